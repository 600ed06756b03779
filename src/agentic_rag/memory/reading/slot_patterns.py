"""The fixed table of English patterns that fill or end a slot: predicates about a person, and a person's attributes.

Data only; ``slots`` reads it. Names as values are matched case-sensitively, the words around them are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from agentic_rag.memory.reading.schemas import AGE, EMPLOYER, JOB, LIVES_IN, NAME

NAME_WORDS = r"\p{Lu}[\p{L}\p{M}]*(?:[-'’&.](?!s\b)[\p{L}\p{N}]+)*"
_MANY = (
    r"(?:\s(?:(?:de|del|la|le|les|du|do|da|dos|of|the|upon|am|an|der|den|van|von|&)\s){0,2}"
    + r"(?!I\b)"
    + NAME_WORDS
    + r"){0,4}"
)
_PLACE = rf"(?:the\s(?=\p{{Lu}}\p{{L}}+(?:\s\p{{Lu}}\p{{L}}+)*\s*(?:\Z|[,;]|(?:now|with|since|and|but|because|last|these)\b)))?(?P<value>(?>{NAME_WORDS}{_MANY})|\p{{Han}}{{2,8}})(?!['’]s\b|[\w.]*\w|\s\d)"
_ORG = r"(?:the\s)?(?P<value>(?>\p{Lu}[\w]*(?:[-'’&.](?!s\b)\w+)*(?:\s(?:(?:of|the|and|&)\s){0,2}(?!I\b)\p{Lu}[\w]*(?:[-'’&.](?!s\b)\w+)*){0,5})|\p{Han}{2,12})(?!['’]s\b|\w)"
_PERSON = rf"(?P<value>(?>(?:(?:Dr|Mr|Mrs|Ms|Prof|Professor)\.?\s)?{NAME_WORDS}(?:\s{NAME_WORDS}){{0,3}})|\p{{Han}}{{2,4}})(?!['’]s\b|\w)"
_ROLE = r"(?:an?\s|the\s)?(?P<value>(?>(?!at\b|in\b|for\b|and\b|but\b|with\b|since\b|now\b|of\b|these\b|well\b|usual\b)[\w'’/+#-]+)(?:\s(?!at\b|in\b|for\b|and\b|but\b|with\b|since\b|now\b|from\b|who\b|where\b|while\b|again\b|here\b|there\b|on\b|these\b|this\b|last\b|anymore\b|right\b)[\w'’/+#-]+){0,4}+)"
_SHORT = r"(?:an?\s|the\s)?(?P<value>(?!not\b|no\b|the\ssame|what\b|how\b|too\b|very\b|so\b|a\sbit|going\b|getting\b|about\sto|that\b|probably\b|currently\b|now\b|still\b|always\b|in\b|on\b|at\b|wrong\b|right\b|broken\b|gone\b|here\b|there\b|missing\b|great\b|good\b|bad\b)[^,;:()\"“”?!]{1,60}?)(?=\s*(?:[,;:()\"“”?!]|\Z|\s(?:now|and|but|because|since|these\sdays|at\sthe\smoment|anymore|which|so|as\sof|instead|right\snow|from\snow|for\s(?:[\w-]+\s)*(?:weeks|months|years|decades|ages))\b))"
_MEASURED_VALUE = (
    r"(?:(?:on|at|by|in|around|about|roughly|for|due|exactly|only)\s)*(?P<value>(?!not\b|no\b|never\b|between\b|approaching\b|coming\b)(?=[^,;]*(?:\p{N}|(?-i:\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\p{Ll}*\b)))"
    r"(?:(?!\s(?:now|and|but|because|instead|so|which|from|after|since|as\sof|due|last|yesterday)\b)[^;()\"“”?!,]|,(?=\d{3}\b)|(?<=\d),(?=\s(?:1\d|20)\d\d\b)){1,60}+)"
)
_EMAIL = r"(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
_DIGITS = r"(?P<value>\+?\d[\d\s().-]{4,18}\d)"

BE = r"(?:['’](?:m|s|re)|\s(?:am|is|are))"
HAVE = r"(?:['’](?:ve|s)|\s(?:have|has))"
_ADV = (
    r"(?:\s(?:now|currently|just|recently|already|finally|actually|still|officially|presently|only|newly))*"
)
_PERFECT = rf"(?:{HAVE})?{_ADV}\s"
"""Past or present perfect."""
_DOES = rf"{_ADV}\s"
_DOING = rf"(?:{BE}|{HAVE}\sbeen){_ADV}\s"
_NOT = r"(?:\s(?:do|does)(?:n['’]t|\snot)|\sno\slonger|\s(?:am|is|are)\s(?:not|no\slonger)|['’](?:m|s|re)\s(?:not|no\slonger)|\s(?:is|are)n['’]t)(?:\s(?:really|actually|currently|even))?\s"
_PROFESSION = (
    r"(?P<value>(?:(?!and\b|or\b|former|ex\b|ex-|aspiring|retired|future|student|trainee|would-be|wannabe|not\b)[\w/-]+\s){0,3}(?:engineer|developer|programmer|designer|nurse|doctor|physician|surgeon|dentist|lawyer|attorney|teacher|professor"
    r"|accountant|analyst|architect|scientist|manager|consultant|electrician|plumber|carpenter|chef|cook|baker|barista|pharmacist|paramedic|firefighter"
    r"|pilot|librarian|journalist|editor|economist|mechanic|therapist|psychologist|veterinarian|vet|chemist|physicist|biologist|producer|director"
    r"|receptionist|cashier|waiter|waitress|bartender|translator|interpreter|secretary|assistant|researcher|technician|administrator))\b(?!['’]s|\s(?:student|friend|wannabe|in\straining|by\s|on\s|at\sheart))"
)
_MARITAL_STATUS = (
    r"(?P<value>married|single|divorced|engaged|widowed|separated)"
    r"(?=\s*(?:\Z|[,;]|(?:now|again|to(?!\s(?:my|the|this)\b)|and|but|since|for|last|this|recently|yesterday|today|anymore|in\s(?:19|20|(?-i:\p{Lu})))))"
)
_DWELLING = r"(?:flat|apartment|house|home|studio|room|condo|cottage|bungalow|loft|place)"
_DIET = r"(?:an?\s)?(?P<value>vegan|vegetarian|pescatarian|keto|flexitarian|gluten-free)\b"


@dataclass(frozen=True, slots=True)
class Rule:
    """A wording that gives a slot of a person its value."""

    slot: str
    pattern: regex.Pattern[str]
    ends: bool = False
    past: bool = False
    whatever: bool = False
    """Ends any earlier value; has no value itself."""
    sign: str = ""
    """The slot's value, where what the pattern reads as ``value`` is the thing that names the slot; see ``likings``."""


def rule_of(
    slot: str, pattern: str, *, ends: bool = False, past: bool = False, whatever: bool = False
) -> Rule:
    """A rule of a pattern as text; see ``Rule`` for the rest."""
    return Rule(slot, regex.compile(f"(?i:{pattern})" if whatever else pattern), ends, past, whatever)


def _i(words: str) -> str:
    return f"(?i:{words})"


PREDICATES: tuple[Rule, ...] = (
    rule_of(
        LIVES_IN,
        _i(
            rf"(?:{_DOES}(?:lives?|resides?)|{_DOING}(?:living|residing|based|settled))\s(?:(?:here|over|out|back|up|down)\s)?in\s"
        )
        + _PLACE,
    ),
    rule_of(LIVES_IN, _i(rf"{HAVE}{_ADV}\slived\sin\s") + _PLACE + _i(r"(?=\s(?:since|for|all\smy)\b)")),
    rule_of(
        LIVES_IN,
        _i(
            rf"{_PERFECT}(?:moved(?!\sin\s)|relocated|settled|emigrated)\s(?:(?:back|over|house|home|again|out|away|down|up|permanently|together|in)\s)*(?:with\s[^,;]{{1,40}}\s)?(?:from\s[^,;]{{2,60}}?\s(?:back\s|over\s)?)?(?:to|in)\s"
        )
        + _PLACE,
    ),
    rule_of(
        LIVES_IN,
        _i(
            rf"(?:{_DOES}(?:rents?|shares?|sublets?|lives?\sin)|{_DOING}(?:renting|sharing|subletting|living\sin)|{HAVE}{_ADV}\s(?:rented|shared|sublet|lived\sin)|{_PERFECT}moved\sinto)\s(?:an?|my|our)\s(?:[\w-]+\s){{0,2}}{_DWELLING}\s(?:with\s[^,;]{{1,40}}?\s)?in\s"
        )
        + _PLACE,
    ),
    rule_of(LIVES_IN, _i(rf"{_DOES}calls?\s") + _PLACE + _i(r"(?=\shome\b)")),
    rule_of(LIVES_IN, _i(r"\s(?:lived|was\sliving|was\sbased)\sin\s") + _PLACE, past=True),
    rule_of(EMPLOYER, _i(r"\s(?:worked|was\sworking)\s(?:at|for)\s") + _ORG, past=True),
    rule_of(LIVES_IN, _i(rf"{_NOT}(?:lives?|resides?|living|based)\s(?:\w+\s)?in\s") + _PLACE, ends=True),
    rule_of(LIVES_IN, _i(rf"{_PERFECT}moved\s(?:out\sof|away\sfrom)\s") + _PLACE, ends=True),
    rule_of(LIVES_IN, _i(rf"{_PERFECT}left\s") + _PLACE + _i(r"(?=\s(?:for\sgood|permanently))"), ends=True),
    rule_of(
        EMPLOYER,
        _i(rf"{_PERFECT}left\s")
        + _ORG
        + _i(
            r"(?=\s*(?:\Z|[,;.!]|(?:in|last|this\s(?:week|month|year|spring|summer|autumn|fall|winter)|after|because|and|but|recently|yesterday|for\sgood)\b|[\w\s]{1,12}\sago\b))"
        ),
        ends=True,
    ),
    rule_of(
        EMPLOYER,
        _i(
            rf"(?:{_DOES}works?|{_DOING}(?:working|employed))\s(?:(?:full[- ]time|remotely|now|here)\s)*(?:at|for|by)\s"
        )
        + _ORG,
    ),
    rule_of(EMPLOYER, _i(rf"{HAVE}{_ADV}\sworked\s(?:at|for)\s") + _ORG + _i(r"(?=\s(?:since|for)\b)")),
    rule_of(
        EMPLOYER,
        _i(
            rf"{_PERFECT}(?:started\s(?:(?:(?:working|work)\s)?(?:at|for)|(?:a|my)(?:\snew)?\s(?:job|position|role)\s(?:at|with|for))|(?:got|landed|took|found|have)\s(?:a|the|my)(?:\snew)?\s(?:job|position|role)\s(?:at|with)|got\shired\s(?:at|by)|been\shired\sby|(?:switched|changed|moved)\s(?:jobs|employers?|companies)(?:\sfrom\s[^,;]{{2,50}}?)?\sto)\s"
        )
        + _ORG,
    ),
    rule_of(EMPLOYER, _i(rf"{_PERFECT}joined\s") + _ORG + _i(r"(?=\sas\s(?:an?|the|their|its)\s)")),
    rule_of(EMPLOYER, _i(rf"{_NOT}(?:work(?:s|ing)?|employed)\s(?:at|for|by)\s") + _ORG, ends=True),
    rule_of(
        EMPLOYER,
        _i(
            rf"{_PERFECT}(?:quit|resigned\sfrom|stopped\sworking\s(?:at|for)|quit\s(?:my|his|her|their|the)\sjob\s(?:at|with)|left\s(?:my|his|her|their|the)\sjob\s(?:at|with)|(?:(?:was|been|got)\s)?(?:fired|laid\soff)\s(?:from|by)|retired\sfrom)\s"
        )
        + _ORG,
        ends=True,
    ),
    rule_of(
        EMPLOYER,
        rf"(?:{_PERFECT}(?:(?:quit|lost|left|resigned\sfrom)\s(?:my|his|her|their)\sjob|retired|(?:was|got|been)\s(?:fired|laid\soff))|{_DOING}(?:unemployed|retired|out\sof\swork|between\sjobs)|{_NOT}work\sanymore)(?!\s(?:at|from|by|with)\b)\b",
        ends=True,
        whatever=True,
    ),
    rule_of(
        JOB,
        _i(
            rf"(?:{_DOES}works?|{_DOING}(?:working|employed)|{_PERFECT}started\s(?:working|out\sagain))(?:\s(?:full[- ]time|remotely|now))*\sas\s(?!a\s(?:team|group|couple|whole)\b){_ROLE}"
        ),
    ),
    rule_of(JOB, _i(rf"{_PERFECT}(?:(?:been|was|got)\s)?promoted\sto\s{_ROLE}")),
    rule_of(JOB, _i(rf"(?:{_DOING}|{_PERFECT}became\s)(?:an?\s){_PROFESSION}")),
    rule_of(JOB, _i(rf"{_NOT}(?:an?\s){_PROFESSION}"), ends=True),
    rule_of(JOB, _i(rf"{_NOT}work(?:s|ing)?\sas\s{_ROLE}"), ends=True),
    rule_of(
        AGE,
        _i(
            rf"(?:{_DOING}|{_PERFECT}turned\s)(?P<value>\d{{1,3}})(?=\s*(?:\Z|[,;]|(?:years?(?:\sold)?|yo|and|now|but|today|yesterday)\b))(?!\s*years?\s(?!old))"
        ),
    ),
    rule_of(
        "marital status",
        _i(rf"(?:{_DOING}|{_PERFECT}(?:got|gotten|become|became)\s)(?:happily\s|newly\s)?{_MARITAL_STATUS}"),
    ),
    rule_of("marital status", _i(rf"{_NOT}{_MARITAL_STATUS}"), ends=True),
    rule_of(
        "diet",
        _i(
            rf"(?:{_DOING}|{_PERFECT}(?:become|became|turned|went|gone)\s)(?:an?\s)?{_DIET}(?=\s*(?:\Z|[,;]|(?:now|and|but|since|again|these|last|this)\b))"
        ),
    ),
    rule_of("diet", _i(rf"{_NOT}(?:an?\s)?{_DIET}"), ends=True),
    rule_of(
        "school",
        _i(
            rf"(?:{_DOES}(?:attends?|go(?:es)?\sto|studies\sat|study\sat)|{_DOING}(?:studying\sat|enrolled\s(?:at|in)|attending)|{_PERFECT}transferred\sto)\s"
        )
        + r"(?=(?:the\s)?(?:[\w.'’]+\s){0,5}(?:University|College|School|Institute|Academy|MIT|UCLA|ETH)\b)"
        + _ORG,
    ),
    rule_of(
        "car",
        _i(rf"(?:{_DOES}drives?|{_PERFECT}(?:switched|changed)\s(?:my\s)?cars?\sto)\s(?:an?|my)\s")
        + r"(?P<value>(?>\p{Lu}[\w-]*(?:\s[\p{Lu}\p{N}][\w-]*){0,3}))(?!\w)",
    ),
    rule_of("car", rf"{_PERFECT}sold\smy\scar\b|{_NOT}(?:own|have)\sa\scar\b", ends=True, whatever=True),
    rule_of(
        "plan",
        _i(
            rf"(?:{_DOING}on|{_PERFECT}(?:switched|upgraded|downgraded|changed|moved)\s(?:from\s[^,;]{{2,40}}?\s)?to)\s(?:the\s|a\s)?"
        )
        + r"(?P<value>\p{Lu}\w*(?:\s\p{Lu}\w*){0,2})"
        + _i(r"(?=\s(?:plan|tier|subscription)\b)"),
    ),
    rule_of(NAME, _i(rf"(?:{_DOING}called|{_PERFECT}changed\s(?:my|his|her|their)\sname\sto)\s") + _PERSON),
)

_QUALIFIER = r"(?:(?!old\b|previous|former|original|initial|last\b|ex\b|next\b|first\b|only\b)[\w-]+\s){0,2}?"
_QUALIFIED_VALUE = _QUALIFIER.replace("{0,2}", "{1,2}")
_SOFT = r"(?:deadline|due\sdate|goal|target|score|price|cost|rate|capacity|quota|limit|count|headcount|mileage|(?:launch|release|start|end|submission)\sdate)"
"""Attributes that occur in several kinds, so that a further word must identify which one is meant."""
_ABOUT = r"(?:\s(?:for|of|on)\s(?:(?!is\b|was\b|has\b|now\b)[\w'’.&#/-]+\s?){1,6}?(?<!\s))?"
_NEW = r"(?:(?:new|current|updated|actual|latest)\s)?"
_CHILD = r"(?:dog|cat|puppy|kitten|parrot|hamster|rabbit|horse|pet|son|daughter|baby|child|wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|spouse)"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A noun that names a slot, and the pattern of its value."""

    rule: str
    noun: str
    value: str
    about: bool = False
    case: bool = False
    """Whether the value is matched case-sensitively."""

    def patterns(self) -> tuple[regex.Pattern[str], regex.Pattern[str], regex.Pattern[str]]:
        """Of statements that deny a value, that state it, and that change it."""
        slot = rf"\s?{_NEW}(?P<slot>{self.noun}{_ABOUT if self.about else ''})"
        value = self.value if self.case else _i(self.value)
        verb = (
            r"(?:changed|switched|updated)"
            if self.rule not in ("measure", "birthday", "e-mail", "phone number")
            else r"(?:moved|changed|extended|pushed|postponed|rescheduled|increased|raised|reduced|lowered|cut|updated|bumped|dropped|risen|rose|gone|went|switched|shifted|set|revised|brought|grown|grew|decreased|slipped)"
        )
        return (
            regex.compile(_i(rf"{slot}(?:['’]s\s(?:not|no\slonger)|\sis(?:\snot|\sno\slonger|n['’]t))\s") + value),
            regex.compile(_i(rf"{slot}(?:['’]s|\sis|(?:\shas|['’]s)(?:\s(?:always|long))?\sbeen(?!(?:\s\w+)?\s{verb}\b))(?:\s(?:now|currently|actually|still|set\s(?:to|at|for)|named|called|a|an|due))*\s") + value),
            regex.compile(_i(rf"{slot}(?:\s(?:has|have)|['’]s)?(?:\s(?:now|just|recently|since))*(?:\s(?:been|was|were|got))?(?:\s(?:now|just|recently))*\s{verb}(?:\s(?:up|down|back|forward|out))?(?:\sfrom\s[^;]{{1,50}}?)?\sto\s") + value),
        )  # fmt: skip


_ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute("favourite", r"(?:most\s)?favou?rite\s(?P<of>(?:[\w-]+\s){0,2}?[\w-]+)", _SHORT),
    Attribute("name of family", rf"{_QUALIFIER}{_CHILD}['’]s\s(?:full\s|first\s)?name", _PERSON, case=True),
    Attribute("name of family", rf"{_QUALIFIER}{_CHILD}(?=(?:['’]s|\sis)\s(?:now\s)?(?:called|named)\s)", _PERSON, case=True),
    Attribute(LIVES_IN, _DWELLING, r"(?i:in\s)" + _PLACE, case=True),
    Attribute("name", r"(?:full\s|first\s|last\s|middle\s|maiden\s)?(?:name|surname|nickname)", _PERSON, case=True),
    Attribute("e-mail", rf"{_QUALIFIER}e-?mail(?:\saddress)?", _EMAIL),
    Attribute("phone number", rf"{_QUALIFIER}(?:phone|mobile|cell|telephone|number)(?:\snumber)?", _DIGITS),
    Attribute("address", r"(?:home\s|work\s|postal\s|mailing\s|office\s)?address", r"(?P<value>(?=[^;]*\d)[^;()\"“”?!]{5,80})"),
    Attribute("person", r"(?:boss|(?:line\s)?manager|supervisor|doctor|dentist|landlord|therapist|team\slead|tutor|advisor)", r"(?:called\s|named\s)?" + _PERSON, case=True),
    Attribute("organisation", r"(?:employer|home\s?town|major|bank|gym)", _ORG, case=True),
    Attribute("job", r"(?:job|position|role|occupation|profession)", rf"(?:an?\s)?{_PROFESSION}"),
    Attribute("job", r"job\stitle", _ROLE),
    Attribute("owned", r"(?:car|laptop|phone|bike|computer|camera|time\s?zone)", r"(?i:an?\s)?(?P<value>(?>\p{Lu}[\w-]*(?:\s[\p{Lu}\p{N}][\w-]*){0,4}))(?!\w)", case=True),
    Attribute("username", r"(?:user\s?name|blood\stype|website)", r"(?P<value>(?=\S*(?:[\d_+.-]\w|[+-]|(?-i:\p{Ll}\p{Lu})))\S*[\w+-])(?=[.,;!]*(?:\s(?:now|and|but)\b|\Z))"),
    Attribute("plan", r"(?:plan|subscription)", r"(?i:the\s)(?P<value>(?>\p{Lu}\w*(?:\s\p{Lu}\w*){0,2}))(?=\s(?:plan|tier|one|now)\b|[.,;!]|\Z)", case=True),
    Attribute("birthday", r"(?:birthday|birth\sdate|date\sof\sbirth)", _MEASURED_VALUE),
    Attribute(
        "measure",
        rf"(?:{_QUALIFIER}(?:budget|salary|rent|weight|height|age|wedding\sdate|bedtime|gpa)|{_QUALIFIED_VALUE}{_SOFT}|{_SOFT}(?=\s(?:for|of|on)\b))",
        _MEASURED_VALUE,
        about=True,
    ),
)  # fmt: skip
NEGATION, STATEMENT, CHANGE = range(3)
"""The form that each of an attribute's patterns matches."""
ATTRIBUTES = tuple((attribute, attribute.patterns()) for attribute in _ATTRIBUTES)
ANY_ATTRIBUTE = regex.compile(
    r"favou?rite|flat|apartment|house|home|studio|room|condo|cottage|bungalow|loft|place|name|called|mail|phone|mobile|cell|number|address|boss|manager|supervisor|doctor|dentist|landlord|therapist|employer|home\s?town|lead|tutor|advisor|major|bank|gym"
    r"|job|position|role|occupation|profession|car\b|laptop|bike|computer|camera|type|zone|website|diet|subscription|plan|birth|deadline|date|budget|salary|rent|weight|height|age\b|price|cost|rate"
    r"|capacity|quota|limit|target|count|score|gpa|bedtime|mileage|goal",
    regex.IGNORECASE,
)

AS_ROLE = rule_of(JOB, _i(rf",?\sas\s{_ROLE}"))
AT_ORG = rule_of(EMPLOYER, _i(r"\s(?:at|for|with)\s") + _ORG)
NOT_A_PLACE = frozenset(
    """python react vue angular docker java javascript typescript rust django flask fastapi vim emacs linux windows mac ubuntu debian kubernetes
    azure aws gcp spotify slack notion jira teams postgres postgresql mysql mongodb redis sqlite git github gitlab vscode vs figma excel word google
    chrome firefox safari android ios iphone phase plan stage level team marketing sales engineering senior junior head chapter step part section
    product finance hr legal support operations research management leadership option version sprint week day module lesson unit english spanish
    french german chinese node next tailwind bootstrap heroku netlify vercel render terraform ansible jenkins graphql rest api
    obsidian linear supabase firebase brave arch fedora telegram signal whatsapp discord bluesky mastodon threads twitter reddit youtube netflix
    tidal onenote evernote trello asana clickup airtable bitbucket cursor neovim zsh bash conda poetry pnpm yarn bun deno svelte laravel rails ruby
    php golang kotlin swift scala elixir haskell webflow shopify wordpress squarespace ghost substack gmail outlook protonmail fastmail icloud
    dropbox onedrive chatgpt claude gemini copilot pytorch tensorflow pandas polars duckdb snowflake bigquery databricks spark kafka rabbitmq
    elasticsearch opensearch zoom webex monday tuesday wednesday thursday friday saturday sunday""".split()
)
