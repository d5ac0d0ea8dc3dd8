// Refuse a file that is too large before it's uploaded. Without JavaScript, the server refuses it.
for (const input of document.querySelectorAll("input[type=file][data-max-bytes]")) {
  input.addEventListener("change", () => {
    const isTooLarge = input.files[0]?.size > Number(input.dataset.maxBytes);
    input.setCustomValidity(isTooLarge ? input.dataset.tooLarge : "");
    input.reportValidity();
  });
}
