# The order matters: Edge's header also contains Chrome/ and Safari/.
_BROWSERS = {
    "Edg/": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
    "curl/": "curl",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "Mac",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def describe_browser(user_agent: str) -> str:
    """Return a description such as "Firefox on Windows"."""
    browser = next((name for token, name in _BROWSERS.items() if token in user_agent), "")
    system = next((name for token, name in _SYSTEMS.items() if token in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "Unknown browser"
