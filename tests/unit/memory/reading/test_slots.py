from __future__ import annotations

import pytest

from agentic_rag.memory.reading.schemas import LIKING
from agentic_rag.memory.reading.statements import statements
from agentic_rag.memory.schemas import MemoryType

Row = tuple[str, list[tuple[str, str, str]]]

FILLED: list[Row] = [
    ("I live in Oslo.", [("Bo", "lives in", "Oslo")]),
    ("i live in Oslo now", [("Bo", "lives in", "Oslo")]),
    ("I'm living in New York City these days.", [("Bo", "lives in", "New York City")]),
    ("I rent a flat in Lyon.", [("Bo", "lives in", "Lyon")]),
    ("I've rented a small studio in Bristol since March.", [("Bo", "lives in", "Bristol")]),
    ("I share an apartment with two friends in Porto.", [("Bo", "lives in", "Porto")]),
    ("I moved into a new flat in Basel.", [("Bo", "lives in", "Basel")]),
    ("My flat is in Leeds now.", [("Bo", "lives in", "Leeds")]),
    ("Our house is in Turku.", [("Bo", "lives in", "Turku")]),
    ("My sister's flat is in Graz.", [("Bo's sister", "lives in", "Graz")]),
    ("I call Vilnius home now.", [("Bo", "lives in", "Vilnius")]),
    ("My home isn't in Aarhus any more.", [("Bo", "lives in", "-Aarhus")]),
    ("I moved from Oslo to Bergen.", [("Bo", "lives in", "Bergen")]),
    ("I've just moved back to Bergen, Norway.", [("Bo", "lives in", "Bergen")]),
    ("We relocated to Rio de Janeiro last year.", [("Bo", "lives in", "Rio de Janeiro")]),
    ("Last week I moved to Bergen with my dog.", [("Bo", "lives in", "Bergen")]),
    ("Actually, I now live in Ålesund.", [("Bo", "lives in", "Ålesund")]),
    ("I moved to Bergen and I work at Acme.", [("Bo", "lives in", "Bergen"), ("Bo", "employer", "Acme")]),
    ("I left Acme and joined Globex as a designer.", [("Bo", "employer", "-Acme"), ("Bo", "employer", "Globex"), ("Bo", "job", "designer")]),
    ("I live in Oslo, but I'm thinking of moving to Rome.", [("Bo", "lives in", "Oslo")]),
    ("I'm 28 and living in Oslo, how can I find friends?", [("Bo", "age", "28"), ("Bo", "lives in", "Oslo")]),
    ("I don't live in Oslo anymore.", [("Bo", "lives in", "-Oslo")]),
    ("I no longer live in Oslo; I live in Bergen now.", [("Bo", "lives in", "-Oslo"), ("Bo", "lives in", "Bergen")]),
    ("I moved out of Oslo.", [("Bo", "lives in", "-Oslo")]),
    ("Alice moved to Bergen.", [("Alice", "lives in", "Bergen")]),
    ("Alice Wong lives in Bergen.", [("Alice Wong", "lives in", "Bergen")]),
    ("My sister moved to Bergen.", [("Bo's sister", "lives in", "Bergen")]),
    ("My older brother lives in Rome.", [("Bo's older brother", "lives in", "Rome")]),
    ("My sister Anna lives in Rome.", [("Anna", "lives in", "Rome")]),
    ("I work at Acme Corp as a nurse.", [("Bo", "employer", "Acme Corp"), ("Bo", "job", "nurse")]),
    ("I'm a software engineer at Google.", [("Bo", "job", "software engineer"), ("Bo", "employer", "Google")]),
    ("I work for the University of Oslo.", [("Bo", "employer", "University of Oslo")]),
    ("I started a new job at Globex.", [("Bo", "employer", "Globex")]),
    ("I changed jobs from Acme to Globex.", [("Bo", "employer", "Globex")]),
    ("I don't work at Acme any more.", [("Bo", "employer", "-Acme")]),
    ("I was laid off by Acme.", [("Bo", "employer", "-Acme")]),
    ("I quit my job.", [("Bo", "employer", "-"), ("Bo", "job", "-")]),
    ("I got promoted to senior manager.", [("Bo", "job", "senior manager")]),
    ("My name is Bo Li.", [("Bo", "name", "Bo Li")]),
    ("I'm 28 years old.", [("Bo", "age", "28")]),
    ("I just turned 30.", [("Bo", "age", "30")]),
    ("My birthday is on May 5.", [("Bo", "birthday", "May 5")]),
    ("I got married last month.", [("Bo", "marital status", "married")]),
    ("I'm not married anymore.", [("Bo", "marital status", "-married")]),
    ("My wife's name is Tanya.", [("Bo", "wife's name", "Tanya")]),
    ("My phone number is +47 555 12 345.", [("Bo", "phone number", "+47 555 12 345")]),
    ("My new e-mail address is bo@example.com.", [("Bo", "e-mail", "bo@example.com")]),
    ("My work email is now bo@acme.com", [("Bo", "work e-mail", "bo@acme.com")]),
    ("My address is 12 Elm Street, Oslo.", [("Bo", "address", "12 Elm Street, Oslo")]),
    ("My favourite colour is green.", [("Bo", "favourite colour", "green")]),
    ("My favorite ice cream is now pistachio.", [("Bo", "favourite ice cream", "pistachio")]),
    ("Since 3 June 2022 my favourite drink has been kombucha.", [("Bo", "favourite drink", "kombucha")]),
    ("My favourite poet has always been Rilke.", [("Bo", "favourite poet", "Rilke")]),
    ("My favourite bar has been Tiki for many years.", [("Bo", "favourite bar", "Tiki")]),
    ("Since 2020 my dentist has been Ruth Olsen.", [("Bo", "dentist", "Ruth Olsen")]),
    ("My favourite bar has been changed to Tiki.", [("Bo", "favourite bar", "Tiki")]),
    ("My dog's name is Rex.", [("Bo", "dog's name", "Rex")]),
    ("Alice's dog's name is Rex.", [("Alice", "dog's name", "Rex")]),
    ("My boss is Kim Lee.", [("Bo", "boss", "Kim Lee")]),
    ("My deadline for the essay is now May 10, 2024.", [("Bo", "deadline for the essay", "May 10, 2024")]),
    ("The deadline for Project Apollo has been moved from May 3 to June 1.", [("Bo", "deadline for project apollo", "June 1")]),
    ("The budget is 500 euros now.", [("Bo", "budget", "500 euros")]),
    ("my budget for the trip is $1,500, can you help me plan?", [("Bo", "budget for the trip", "$1,500")]),
    ("My rent went up from 900 to 1,000 euros.", [("Bo", "rent", "1,000 euros")]),
    ("My deadline for the essay is not May 10.", [("Bo", "deadline for the essay", "-May 10")]),
    ("I study at Stanford University.", [("Bo", "school", "Stanford University")]),
    ("I drive a Tesla Model 3.", [("Bo", "car", "Tesla Model 3")]),
    ("I sold my car.", [("Bo", "car", "-")]),
    ("I'm vegan now.", [("Bo", "diet", "vegan")]),
    ("I'm no longer vegan.", [("Bo", "diet", "-vegan")]),
    ("I switched to the Pro plan.", [("Bo", "plan", "Pro")]),
    ("I'm no longer employed at Nokia.", [("Bo", "employer", "-Nokia")]),
    ("I became vegan last year.", [("Bo", "diet", "vegan")]),
    ("My husband and I moved to Porto.", [("Bo", "lives in", "Porto")]),
    ("My email address has changed to zoe@mail.org.", [("Bo", "e-mail", "zoe@mail.org")]),
    ("My thesis deadline moved from May 1 to May 20.", [("Bo", "thesis deadline", "May 20")]),
    ("我们去年搬到了苏州。", [("Bo", "lives in", "苏州")]),
    ("我老婆叫王芳。", [("Bo", "老婆的名字", "王芳")]),
    ("我的房租涨到了3500元。", [("Bo", "房租", "3500元")]),
    ("My son is called Tom.", [("Bo", "son's name", "Tom")]),
    ("My dog is named Rex.", [("Bo", "dog's name", "Rex")]),
    ("I live in the Netherlands.", [("Bo", "lives in", "Netherlands")]),
    ("Because I work at Spotify I get free music.", [("Bo", "employer", "Spotify")]),
    ("Tom no longer lives in Porto.", [("Tom", "lives in", "-Porto")]),
    ("My boss moved to Rome.", [("Bo's boss", "lives in", "Rome")]),
    ("My doctor is Dr. Lee.", [("Bo", "doctor", "Dr. Lee")]),
    ("In March 2023, I moved to Bergen.", [("Bo", "lives in", "Bergen")]),
    ("The deadline for the essay is May 10, but the deadline for the visa is June 1.", [("Bo", "deadline for the essay", "May 10"), ("Bo", "deadline for the visa", "June 1")]),
    ("- I live in Oslo", [("Bo", "lives in", "Oslo")]),
    ("我住在奥斯陆。", [("Bo", "lives in", "奥斯陆")]),
    ("我从奥斯陆搬到了卑尔根。", [("Bo", "lives in", "卑尔根")]),
    ("对了，我上周搬到上海了。", [("Bo", "lives in", "上海")]),
    ("我已经不住在奥斯陆了。", [("Bo", "lives in", "-奥斯陆")]),
    ("我妹妹搬到了上海。", [("Bo的妹妹", "lives in", "上海")]),
    ("小明搬到了北京。", [("小明", "lives in", "北京")]),
    ("我在华为工作，我是一名工程师。", [("Bo", "employer", "华为"), ("Bo", "job", "工程师")]),
    ("我不再在华为工作了。", [("Bo", "employer", "-华为")]),
    ("我辞职了。", [("Bo", "employer", "-"), ("Bo", "job", "-")]),
    ("我叫李雷。", [("Bo", "name", "李雷")]),
    ("我今年28岁。", [("Bo", "age", "28")]),
    ("我上个月结婚了。", [("Bo", "marital status", "已婚")]),
    ("我最喜欢的颜色是蓝色。", [("Bo", "最喜欢的颜色", "蓝色")]),
    ("我的狗叫旺财。", [("Bo", "狗的名字", "旺财")]),
    ("我的手机号是 13800138000。", [("Bo", "手机号", "13800138000")]),
    ("我的邮箱改成了bo@example.com。", [("Bo", "邮箱", "bo@example.com")]),
    ("我的预算现在是5000元。", [("Bo", "预算", "5000元")]),
    ("我家在南宁。", [("Bo", "lives in", "南宁")]),
    ("我们家现在在桂林。", [("Bo", "lives in", "桂林")]),
    ("我把家搬到了兰州。", [("Bo", "lives in", "兰州")]),
    ("我在昆明租了房。", [("Bo", "lives in", "昆明")]),
    ("我在长沙租房住。", [("Bo", "lives in", "长沙")]),
    ("我现在定居青岛。", [("Bo", "lives in", "青岛")]),
    ("我住大连。", [("Bo", "lives in", "大连")]),
    ("我家在包头。", [("Bo", "lives in", "包头")]),
    ("我们家在烟台。", [("Bo", "lives in", "烟台")]),
    ("我住开封。", [("Bo", "lives in", "开封")]),
    ("我在福州安家了。", [("Bo", "lives in", "福州")]),
    ("项目A的截止日期改到了5月10日。", [("Bo", "项目A的截止日期", "5月10日")]),
]  # fmt: skip

UNFILLED = """
    I rent a car in Lyon.
    We rented a flat in Nice for a week.
    I share a room in Excel with my team.
    My office is in Leeds.
    My summer house is in Skagen.
    My place is in Marketing.
    I own a house in Spain that I rent out.
    I call Anna every week.
    我在昆明租了车。
    我们公司在苏州。
    我家在装修。
    我家在三楼。
    我家的猫在睡觉。
    我住酒店。
    我在大理订了民宿。
    Do I live in Oslo?
    Where do I live?
    Did I tell you that I live in Oslo?
    I live in Oslo, right?
    If I moved to Bergen, I would be happy.
    If I lived by the sea, I'd swim, and I work at Acme.
    What if I moved to Bergen?
    Suppose I live in Oslo.
    Imagine I work at Google, and I live in Rome.
    I might move to Bergen.
    I may move to Bergen next year.
    I will move to Bergen in May.
    I'm going to move to Bergen.
    I'm moving to Bergen next month.
    I would like to live in Rome.
    I'd love to live in Rome.
    I want to live in Rome.
    I want to work at Google.
    I'm thinking of moving to Bergen.
    I'm considering a move to Bergen.
    I plan to relocate to Bergen.
    I hope to work at Google.
    I wish I lived in Rome.
    I dreamed that I lived in Rome.
    I almost moved to Bergen.
    I never moved to Bergen.
    I never lived in Rome.
    I haven't moved to Bergen yet.
    I used to live in Oslo.
    I used to work at Acme.
    I had lived in Oslo before.
    I lived in Oslo.
    I was living in Oslo then.
    I worked at Acme in 2012.
    I have lived in Oslo and Rome.
    I live in a small house.
    I live in fear.
    I live in Anna's house.
    I live in Oslo or Bergen.
    I probably live in Oslo.
    I moved to Python.
    I moved to the next chapter.
    We moved to PostgreSQL.
    We moved to Phase 2.
    I moved to GitHub last week.
    I moved to Marketing.
    I moved to Bergen for two weeks.
    I temporarily moved to Bergen.
    I visited Oslo.
    I went to Oslo.
    I like Oslo.
    I flew from Oslo to Bergen.
    I drove from Oslo to Bergen.
    I left Oslo at noon.
    I left Oslo this morning.
    She moved to Bergen.
    He lives in Rome and works at Acme.
    They moved to Bergen.
    You live in Oslo.
    Everyone moved to Bergen.
    People live in Oslo.
    She said "I live in Oslo."
    She said: I live in Oslo.
    "I live in Oslo. I work at Acme."
    “I live in Oslo. I work at Acme.”
    > I live in Oslo.
    My sister said, I live in Oslo.
    Translate this into French: I live in Rome. I work at Acme.
    Please proofread the following text: My name is John. I live in Rome.
    Example: I live in Rome.
    Write a story where I live in Rome.
    Pretend I live in Rome.
    It is not true that I live in Rome.
    Alice thinks I live in Rome.
    I also work at Globex.
    I work part-time at Globex.
    I work as a team player and I care.
    I work at night.
    I work on Project Apollo.
    I'm a big fan of Apple.
    I'm a mother.
    I'm a beginner.
    I'm 28 minutes late.
    I'm 80% done.
    I'm 5 km away.
    I'm 3 chapters in.
    I'm engaged in a debate.
    I'm single-handedly doing this.
    I'm called to the office.
    I have two dogs, Rex and Max.
    I speak Norwegian and English.
    My friends are Kim and Lee.
    My friend's name is Kim.
    My hobby is chess.
    I like green.
    My job is demanding.
    My phone is dead.
    My car is broken.
    My car is in the garage.
    My budget is tight.
    My budget was 500 euros.
    My deadline is approaching.
    My deadline for the essay is soon.
    My goal is to finish 3 chapters.
    My old phone number was 555 123 456.
    My previous address is 12 Elm Street.
    The deadline is May 10.
    The budget is 500 euros.
    The price is 5 euros.
    One of my favourite films is Alien.
    My favourite part is that it ends.
    My email is bo@example.com or bob@example.com.
    I'm on the train.
    I'm on the wrong plan.
    I switched to tea.
    Thanks, I get it.
    Could my deadline for the essay be May 10?
    Is my name Bo?
    My name is not important.
    I moved to the Berlin office.
    I moved to Acme Corp last year.
    I'm an engineer by training.
    I'm a former teacher.
    I'm married to my work.
    My deadline is May 10.
    My score is 80.
    My limit is 5.
    I left Google Docs open.
    I left Alice at the airport.
    My friend lives in Rome.
    My manager is Kim's friend.
    My flight is on May 5.
    I'm in Porto right now.
    I live near Porto.
    I was going to move to Porto.
    I had to move to Porto.
    Even if I lived in Porto, I'd commute.
    It feels like I live in Porto.
    I live in Porto if that matters.
    Act as if I live in Rome.
    For this exercise, I live in Rome and work at NASA.
    In my dream, I moved to Bergen.
    In the story, I live in Rome.
    My character lives in Rome.
    Q: Where do you live? A: I live in Rome.
    Could you tell me what it's like to live in Dublin?
    I keep thinking about moving to Dublin.
    My dream is to live in Dublin.
    One day I'll live in Dublin.
    I'd move to Dublin in a heartbeat.
    I applied for a job at Nokia.
    I was offered a job at Nokia.
    I turned down a job at Nokia.
    I might start working at Nokia.
    My interview at Nokia went well.
    I work on Nokia phones.
    I moved to a new flat.
    I moved my desk to Dublin.
    I moved the meeting to Monday.
    I moved to Kotlin from Java.
    I switched to Kotlin.
    I live in a tiny village.
    I live in hope.
    I spent a year in Dublin.
    I stayed in Dublin for a month.
    I lived in Dublin for a year.
    I had moved to Dublin when it happened.
    Back then I lived in Dublin.
    In 2010 I worked at Nokia.
    My ex moved to Dublin.
    My neighbor works at Nokia.
    A friend of mine lives in Dublin.
    The guy who lives in Dublin called.
    He told me he lives in Dublin.
    We moved to Bergen.
    I moved to Obsidian from Notion.
    My boss says he moved to Dublin.
    "My name is Zed," he said.
    He goes, I live in Dublin.
    Suppose my budget is 500 euros.
    If my budget were 500 euros, what could I buy?
    Should my budget be 500 euros?
    My budget might be 500 euros.
    My budget was 500 euros before.
    My favourite colour might be green.
    My favourite movies are Alien and Heat.
    I have a favourite colour.
    My name doesn't matter.
    My name was misspelled.
    I'm 30 percent sure.
    I'm 2 hours away.
    I'm 15th in line.
    I feel 80.
    My phone is an iPhone or a Pixel.
    My dog is sick.
    My son is tired.
    My wife is from Dublin.
    My manager is annoying.
    My doctor says I'm fine.
    I'm single-minded.
    I'm engaged with the material.
    The price is right.
    I like living in Dublin.
    I love that I live in Dublin.
    I hate that I work at Nokia.
    I know someone who moved to Dublin.
    Everyone at Nokia moved to Teams.
    We moved to AWS last year.
    We live in interesting times.
    We work at scale.
    I work at it every day.
    I work at 9.
    I work for Monday's release.
    I joined Instagram.
    I left Dublin at 8.
    I left Nokia's office early.
    I quit coffee.
    I'm working on Project Apollo for Acme.
    I work on the Acme account.
    I'm working at 120% speed.
    I'm working for the weekend.
    I work with React.
    I started at chapter 3.
    I started with Django.
    I started working with Django.
    I'm using Flask 2.3 now.
    I moved to version 2.
    I moved to using Redis.
    I moved to Step 3 of the tutorial.
    I've moved to Chapter 5.
    I live in the terminal.
    My app lives in Heroku.
    My code is now on GitHub.
    My API's name is Foo.
    My project's name is Foo.
    My function name is parse.
    My class name is Parser.
    My file name is Foo.
    My table name is Users.
    My variable is called Foo.
    My budget tracker is done.
    My deadline tracker is on Heroku.
    My phone number field is broken.
    My email validation regex is wrong.
    My address form is broken.
    My age function returns 5.
    My score function returns 0.
    My favourite method is wrong.
    I'm on Windows.
    I'm on Ubuntu 22.04.
    I'm on step 5.
    I'm on the Pro account.
    I'm in Year 10.
    I'm a beginner in Python.
    I'm a Python developer wannabe.
    I'm a visual learner.
    I'm an early bird.
    I'm a slow reader.
    I'm 100% sure.
    I'm 3/4 done.
    I'm single threaded.
    I'm not an expert.
    I'm not sure Oslo is right.
    I'm called every day.
    I go to bed at 10.
    I go to Oslo every week.
    I drive to Oslo.
    I drive Kim to school.
    I left Vim open.
    I joined Acme's Slack.
    I got a job at last.
    I have a job at hand.
    My role in Acme is small.
    My position in the queue is 5.
    My job for today is to clean.
    My rent car is a Volvo.
    My weight vector is 0.5.
    My height is fine.
    My start date is unclear.
    My bank is annoying.
    My gym is closed.
    My major concern is time.
    My website is slow.
    My car is red.
    My laptop is a lemon.
    My plan is the following.
    My plan is the Marshall Plan essay.
    My name is on the list.
    My name is in the header.
    The deadline for the first draft of chapter 2 is flexible.
    Our target is now 80%.
    The launch date is June 3.
    The rate is now 5%.
    The capacity is 50.
    我住在奥斯陆吗？
    我住在哪里？
    如果我搬到上海，我会很开心。
    要是我在华为工作就好了。
    我想搬到上海。
    我打算搬到上海。
    我可能会搬到上海。
    我以前住在奥斯陆。
    我曾经在华为工作。
    我差点搬到上海。
    我搬到新家了。
    我搬到公司附近了。
    我在家工作。
    我在北京工作。
    他搬到了上海。
    她住在奥斯陆。
    大家都搬到了上海。
    他说：“我住在奥斯陆。”
    我听说他搬到了上海。
    请翻译：我住在奥斯陆。我在华为工作。
    我叫他来。
    我不是很饿。
    我喜欢上海。
    我去过上海。
    我的预算很紧张。
    我的狗叫得很大声。
    我有两只狗。
    我会说英语和法语。
    我还没结婚。
    我想结婚了。
    我们公司在北京。
    我想住在杭州。
    我要是住在杭州就好了。
    我爸说我住在杭州。
    我没去过杭州。
    我喜欢杭州。
    我在公司上班。
    我在学习编程。
    你住在杭州。
    我会搬到杭州。
    谁住在杭州？
    我朋友在腾讯上班。
    我的猫很可爱。
    我的预算不多。
    我是认真的。
    我叫了外卖。
    截止日期是什么时候？
""".strip().splitlines()


def slots(text: str) -> list[tuple[str, str, str]]:
    found = statements(text, speaker="Bo", at=None)
    return [
        (one.subject, one.slot, f"-{one.value}" if one.ends else str(one.value))
        for one in found
        if one.slot is not None and one.memory_type is MemoryType.SEMANTIC
    ]


@pytest.mark.parametrize(("text", "expected"), FILLED, ids=[row[0] for row in FILLED])
def test_what_fills_or_empties_a_slot(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert slots(text) == expected


@pytest.mark.parametrize("text", [line.strip() for line in UNFILLED])
def test_what_fills_no_slot(text: str) -> None:
    assert [slot for slot in slots(text) if not slot[1].startswith(LIKING)] == []


def test_an_assistant_fills_none() -> None:
    assert statements("I live in Oslo. My name is Bo.", speaker="assistant", at=None, is_person=False) == []
