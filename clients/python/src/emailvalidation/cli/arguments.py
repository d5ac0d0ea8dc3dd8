"""Commands and their options."""

from __future__ import annotations

import argparse

from emailvalidation._config import KEY_VARIABLE, URL_VARIABLE, VERSION
from emailvalidation.cli import account, clean, completion, doctor, events, lists, mcp, validate

_ABOUT = "Check whether email addresses can receive mail."
_NOTES = f"""\
environment:
  {KEY_VARIABLE}     your API key (svc_live_…), from Settings → API Keys
  {URL_VARIABLE}    the service, for example https://validation.example.com
  NO_COLOR        no colors

exit codes:
  0  done
  1  failed
  2  wrong arguments
  3  the key or the URL is missing, wrong, or isn't allowed to do this
  4  not enough credits
  5  try again later: rate limit, outage, or no connection
  130  stopped with Ctrl-C
"""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="emailvalidation",
        description=_ABOUT,
        epilog=_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"emailvalidation {VERSION}")
    # Commands whose output isn't data don't have the option.
    parser.set_defaults(json=False, api_key_file=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    validate.add_command(commands)
    clean.add_command(commands)
    lists.add_commands(commands)
    account.add_commands(commands)
    events.add_commands(commands)
    doctor.add_command(commands)
    mcp.add_command(commands)
    completion.add_command(commands, parser)
    return parser
