// The form of a new list. A file or text that is too large is refused before it's sent, and a file
// can be dropped anywhere on the page. The server checks the same.
for (const form of document.querySelectorAll(".lists-form")) {
  const { file, addresses } = form.elements;
  const maxLines = Number(form.dataset.maxLines);

  const check = () => {
    const isTooLarge = file.files[0]?.size > Number(form.dataset.maxBytes);
    file.setCustomValidity(isTooLarge ? form.dataset.tooLarge : "");
    const lines = addresses.value.replace(/\n$/, "").split("\n").length;
    const tooMany = `You pasted ${lines.toLocaleString("en")} lines. Paste up to ${maxLines.toLocaleString("en")}, or upload a file.`;
    const both = "Choose a file or paste addresses, but not both.";
    const isBoth = file.files.length && addresses.value.trim();
    addresses.setCustomValidity(lines > maxLines ? tooMany : isBoth ? both : "");
  };

  const choose = (files) => {
    file.files = files.length === 1 ? files : new DataTransfer().files;
    file.dispatchEvent(new Event("change", { bubbles: true }));
    if (files.length > 1) {
      file.setCustomValidity("Drop one file at a time.");
      file.reportValidity();
    }
  };

  addresses.addEventListener("input", check);
  file.addEventListener("change", () => {
    check();
    file.reportValidity();
  });

  const isOfFiles = (event) => event.dataTransfer.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (isOfFiles(event)) {
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
    if (isOfFiles(event)) {
      event.preventDefault();
      if (form.querySelector(".lists-upload").hidden) {
        choose(event.dataTransfer.files);
      }
    }
  });
  // The browser may fill in the form again after Back or Reload.
  check();
}
