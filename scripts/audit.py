"""Known vulnerabilities of the locked dependencies, by pip-audit: from OSV, else from PyPI.

Exits 1 where there is one; says so where neither service can be reached or knows the packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PIP_AUDIT = "pip-audit==2.10.1"
SECONDS = 300


def audited(uv: Path, service: str) -> list[dict[str, object]] | None:
    """What the service knows of each installed package; None where it cannot be asked."""
    frozen = subprocess.run(
        [uv, "pip", "freeze", "--python", sys.executable, "--exclude-editable"],
        capture_output=True,
        text=True,
        check=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text(frozen.stdout, "utf-8")
        command = [uv, "tool", "run", "--from", PIP_AUDIT, "pip-audit", "--requirement", listed]
        command += ["--no-deps", "--disable-pip", "--format", "json", "--vulnerability-service", service]
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
            found = json.loads(told.stdout)["dependencies"]
        except (ValueError, KeyError, subprocess.TimeoutExpired):
            return None
    known = [one for one in found if "skip_reason" not in one]
    return known or None


def main() -> int:
    uv = Path(sys.executable).with_name("uv")
    for service in ("osv", "pypi"):
        known = audited(uv, service)
        if known is None:
            continue
        bad = [(one["name"], one["version"], vuln["id"]) for one in known for vuln in one["vulns"]]  # type: ignore[attr-defined]
        for name, version, number in bad:
            print(f"{name} {version}: {number}", file=sys.stderr)
        print(f"audit: {len(known)} packages by {service}, {len(bad)} known vulnerabilities")
        return 1 if bad else 0
    print("skipped: neither OSV nor PyPI's list of vulnerabilities can be reached")
    return 0


if __name__ == "__main__":
    sys.exit(main())
