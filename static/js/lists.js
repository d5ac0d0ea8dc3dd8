// The form of a new list. A chosen file is sent at once, and a file can be dropped anywhere on the
// page. A file or text that is too large is refused before it's sent. The server checks the same.
for (const form of document.querySelectorAll(".lists-form")) {
  const { file, addresses } = form.elements;
  const alert = form.querySelector(".lists-drop [role=alert]");
  const maxLines = Number(form.dataset.maxLines);

  const checkText = () => {
    const lines = addresses.value.replace(/\n$/, "").split("\n").length;
    const tooMany = `You pasted ${lines.toLocaleString("en")} lines. Paste up to ${maxLines.toLocaleString("en")}, or upload a file.`;
    addresses.setCustomValidity(lines > maxLines ? tooMany : "");
  };

  const findProblem = (files) => {
    if (files.length > 1) {
      return "Drop one file at a time.";
    }
    if (addresses.value.trim()) {
      return "You also pasted addresses. Upload them first, or clear the text and choose the file again.";
    }
    return files[0].size > Number(form.dataset.maxBytes) ? form.dataset.tooLarge : "";
  };

  const send = (files) => {
    alert.textContent = findProblem(files);
    if (alert.textContent) {
      // Otherwise, choosing the same file again changes nothing.
      file.value = "";
    } else {
      file.files = files;
      form.requestSubmit();
    }
  };

  addresses.addEventListener("input", checkText);
  file.addEventListener("change", () => file.files.length && send(file.files));

  const hasFiles = (event) => event.dataTransfer.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event)) {
      // Without this, the browser would open the file.
      event.preventDefault();
      form.classList.add("lists-dropping");
    }
  });
  document.addEventListener("dragleave", (event) => {
    form.classList.toggle("lists-dropping", event.relatedTarget !== null);
  });
  document.addEventListener("drop", (event) => {
    form.classList.remove("lists-dropping");
    if (hasFiles(event)) {
      event.preventDefault();
      if (form.querySelector(".lists-upload").hidden) {
        send(event.dataTransfer.files);
      }
    }
  });
  // The browser may fill in the text again after Back or Reload.
  checkText();
}
