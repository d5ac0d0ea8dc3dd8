import json
import os
import urllib.error
import urllib.request


def call(method, domains=None, **headers):
    """Return the response's ETag and both lists."""
    request = urllib.request.Request(
        "{{ base_url }}/v1/domains",
        method=method,
        data=json.dumps(domains).encode() if domains else None,
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
            **headers,
        },
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.headers["ETag"], json.load(response)


def deny(domain):
    """Add a domain, and keep what other programs have changed."""
    while True:
        etag, domains = call("GET")
        if domain in domains["denied"]:
            return
        domains["denied"].append(domain)
        try:
            call("PUT", domains, **{"If-Match": etag})
        except urllib.error.HTTPError as error:
            # The lists were changed since they were read.
            if error.code != 412:
                raise


deny("spam.example")
print("spam.example is denied")
