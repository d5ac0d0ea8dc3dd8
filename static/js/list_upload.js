// Uploads a list's file in parts, each with its digest, and shows the progress. Choosing the same
// file again after an interruption continues with the parts that the server doesn't have. Without
// this script, the form is sent as a whole.
for (const form of document.querySelectorAll(".lists-form")) {
  // Hashing needs a secure connection.
  if (!crypto.subtle) {
    break;
  }
  const { file, addresses, csrfmiddlewaretoken } = form.elements;
  const find = (selector) => form.querySelector(selector);
  const fields = find(".lists-fields");
  const resumed = find(".lists-upload-resumed");
  const panel = find(".lists-upload");
  const title = find(".lists-upload-name");
  const bar = find("progress");
  const amount = find(".lists-upload-amount");
  const alert = panel.querySelector("[role=alert]");
  const status = find("[role=status]");
  const continueButton = find(".lists-upload-continue");
  const cancelButton = find(".lists-upload-cancel");
  const partBytes = Number(form.dataset.partBytes);
  const RETRY_SECONDS = [1, 2, 4, 8, 16];
  const LOST = "The connection was lost. Uploaded parts are stored for a day. Continue, or choose the same file again later.";
  const ENDED = "You've been signed out, or can't upload lists anymore. Reload the page, and choose the same file again to continue.";
  const UNREADABLE = "The file was changed or moved, so your browser can't read it. Cancel the upload, and choose the file again.";
  const GONE = "This upload was deleted. Reload the page, and upload the file again.";
  // Aborts the requests and waits of a canceled upload.
  let controller = new AbortController();
  let chosen = null;
  let upload = null;
  let stored = 0;

  // The URL of the upload that a file belongs to, in this browser's storage.
  const savedUrl = {
    key: () => `upload ${chosen.name} ${chosen.size} ${chosen.lastModified}`,
    get() {
      try {
        return localStorage.getItem(this.key());
      } catch {
        return null;
      }
    },
    set(url) {
      try {
        if (url) {
          localStorage.setItem(this.key(), url);
        } else {
          localStorage.removeItem(this.key());
        }
      } catch {
        // The upload can't be continued after a reload.
      }
    },
  };

  const formatBytes = (bytes) =>
    bytes < 1048576 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;

  const announce = (text) => {
    if (status.textContent !== text) {
      status.textContent = text;
    }
  };

  const showProgress = (bytes) => {
    const size = chosen.size;
    const percent = Math.floor((100 * bytes) / size);
    bar.value = percent;
    amount.textContent = `${formatBytes(bytes)} of ${formatBytes(size)}, ${percent}%`;
    // Screen readers hear every quarter.
    announce(`${percent - (percent % 25)}% uploaded`);
  };

  const showError = (text) => {
    showProgress(stored);
    alert.hidden = !text;
    alert.querySelector("p").textContent = text;
    continueButton.hidden = !text;
    if (text) {
      continueButton.focus();
    }
  };

  const request = (method, url, { body = null, headers = {}, signal, onProgress } = {}) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const xhr = new XMLHttpRequest();
      xhr.open(method, url);
      xhr.responseType = "json";
      xhr.timeout = 300000;
      xhr.setRequestHeader("X-CSRFToken", csrfmiddlewaretoken.value);
      for (const [name, value] of Object.entries(headers)) {
        xhr.setRequestHeader(name, value);
      }
      xhr.upload.onprogress = (event) => onProgress?.(event.loaded);
      xhr.onload = () => resolve({ code: xhr.status, data: xhr.response });
      xhr.onerror = xhr.ontimeout = () => resolve({ code: 0, data: null });
      xhr.onabort = () => reject(signal.reason);
      signal?.addEventListener("abort", () => xhr.abort());
      xhr.send(body);
    });

  const wait = (seconds, signal) =>
    new Promise((resolve, reject) => {
      setTimeout(resolve, seconds * 1000);
      addEventListener("online", resolve, { once: true });
      signal.addEventListener("abort", () => reject(signal.reason));
    });

  // Retries temporary failures. Throws an error whose message says what to do.
  const send = async (method, url, options = {}) => {
    const { signal } = controller;
    for (let attempt = 0; ; attempt += 1) {
      const { code, data } = await request(method, url, { ...options, signal });
      if (code === 200 && data) {
        return data;
      }
      if (code === 404) {
        savedUrl.set(null);
        throw new Error(GONE);
      }
      const isDamaged = data?.code === "invalid_field";
      if (code !== 0 && code < 500 && !isDamaged) {
        throw new Error(data?.message ?? ENDED);
      }
      if (attempt === RETRY_SECONDS.length) {
        throw new Error(data?.message ?? LOST);
      }
      amount.textContent = "The connection was lost. Trying again…";
      announce(amount.textContent);
      await wait(RETRY_SECONDS[attempt], signal);
    }
  };

  const hash = async (content) => new Uint8Array(await crypto.subtle.digest("SHA-256", content));

  const create = async () => {
    const body = new FormData(form);
    body.delete("file");
    body.delete("addresses");
    body.set("file_name", chosen.name.slice(-255));
    body.set("file_size", chosen.size);
    const upload = await send("POST", form.dataset.uploads, { body });
    savedUrl.set(upload.upload);
    return upload;
  };

  // Returns the file's unfinished upload, or a new one.
  const open = async () => {
    const url = savedUrl.get();
    const found = url && (await request("GET", url));
    return found?.code === 200 && found.data?.is_open ? found.data : create();
  };

  const sendPart = async (upload, number) => {
    const start = (number - 1) * partBytes;
    const content = await chosen.slice(start, start + partBytes).arrayBuffer();
    const digest = await hash(content);
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (upload.parts[number] !== hex) {
      const url = upload.part.replace("/0/", `/${number}/`);
      await send("POST", url, {
        body: content,
        headers: {
          "Content-Digest": `sha-256=:${btoa(String.fromCharCode(...digest))}:`,
          "Content-Type": "application/octet-stream",
        },
        onProgress: (bytes) => showProgress(start + Math.min(bytes, content.byteLength)),
      });
      upload.parts[number] = hex;
    }
    stored = start + content.byteLength;
    showProgress(stored);
  };

  const run = async () => {
    showError("");
    const { signal } = controller;
    const opened = upload ?? (await open());
    signal.throwIfAborted();
    resumed.hidden = upload === opened || !Object.keys(opened.parts).length;
    upload = opened;
    const count = Math.ceil(chosen.size / partBytes);
    for (let number = 1; number <= count; number += 1) {
      await sendPart(opened, number);
      signal.throwIfAborted();
    }
    const { page } = await send("POST", opened.finish);
    savedUrl.set(null);
    removeEventListener("beforeunload", confirmLeaving);
    location.assign(page);
  };

  const confirmLeaving = (event) => event.preventDefault();

  const start = async () => {
    controller = new AbortController();
    addEventListener("beforeunload", confirmLeaving);
    try {
      await run();
    } catch (error) {
      if (error.name === "AbortError") {
        return;
      }
      // DOMExceptions come from reading the file.
      showError(error instanceof DOMException ? UNREADABLE : error.message);
    }
    removeEventListener("beforeunload", confirmLeaving);
  };

  const showPanel = (isUploading) => {
    panel.hidden = !isUploading;
    fields.hidden = isUploading;
    (isUploading ? title : file).focus();
  };

  form.addEventListener("submit", (event) => {
    // The server handles an empty file and pasted text.
    if (file.files[0]?.size && !addresses.value.trim()) {
      event.preventDefault();
      chosen = file.files[0];
      upload = null;
      stored = 0;
      title.querySelector("strong").textContent = chosen.name;
      showPanel(true);
      start();
    }
  });
  continueButton.addEventListener("click", () => {
    title.focus();
    start();
  });
  cancelButton.addEventListener("click", async () => {
    controller.abort();
    removeEventListener("beforeunload", confirmLeaving);
    savedUrl.set(null);
    const canceled = upload;
    // Otherwise, choosing the same file again changes nothing.
    file.value = "";
    showPanel(false);
    // If this fails, the parts are deleted within a day.
    const { data } = canceled ? await request("POST", canceled.cancel) : {};
    if (data?.page) {
      // The file was complete before the request to cancel arrived.
      location.assign(data.page);
    } else {
      announce("Upload canceled");
    }
  });
}
