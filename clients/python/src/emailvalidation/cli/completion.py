from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from emailvalidation.cli.screen import Screen

_BASH = """\
_emailvalidation() {{
    local words="${{COMP_WORDS[*]:1:COMP_CWORD-1}}" current="${{COMP_WORDS[COMP_CWORD]}}"
    case "$words" in
{cases}
    esac
    [[ ${{#COMPREPLY[@]}} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _emailvalidation emailvalidation
"""
_CASE = """\
        "{words}"*) COMPREPLY=($(compgen -W "{offers}" -- "$current"));;"""
_NOTES = """\
bash:  emailvalidation completion bash > ~/.local/share/bash-completion/completions/emailvalidation
zsh:   emailvalidation completion zsh >> ~/.zshrc
fish:  emailvalidation completion fish > ~/.config/fish/completions/emailvalidation.fish
"""


def add_command(commands: Any, parser: argparse.ArgumentParser) -> None:
    completion = commands.add_parser(
        "completion",
        help="print the completion of a shell",
        description="Print a script that completes commands and options.",
        epilog=_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    completion.set_defaults(run=lambda options, screen: run(options, screen, parser))


def run(options: argparse.Namespace, screen: Screen, parser: argparse.ArgumentParser) -> None:
    commands = dict(_walk(parser, ()))
    if options.shell == "fish":
        for line in _fish(commands):
            screen.line(line)
        return
    if options.shell == "zsh":
        screen.line("autoload -U +X bashcompinit && bashcompinit")
    # The longest first: `lists show` before `lists`.
    ordered = sorted(commands.items(), key=lambda item: -len(item[0]))
    cases = [
        _CASE.format(words=" ".join(words), offers=" ".join(offers)) for words, offers in ordered
    ]
    screen.line(_BASH.format(cases="\n".join(cases)))


def _walk(
    parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    offers: list[str] = []
    for action in parser._actions:
        offers += action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            offers += action.choices
            for name, inner in action.choices.items():
                yield from _walk(inner, (*words, name))
        elif action.choices and not action.option_strings:
            offers += map(str, action.choices)
    yield words, offers


def _fish(commands: dict[tuple[str, ...], list[str]]) -> Iterator[str]:
    for words, offers in commands.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
        condition = seen or "__fish_use_subcommand"
        for offer in offers:
            if offer.startswith("--"):
                yield f"complete -c emailvalidation -n '{condition}' -l {offer[2:]}"
            elif not offer.startswith("-"):
                yield f"complete -c emailvalidation -n '{condition}' -a {offer}"
