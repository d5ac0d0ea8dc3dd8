_SAVE = "Save it as CSV or XLSX and upload it again."
_SAVE_AS_CSV = "Save it as CSV and upload it again."
_OPEN_AND_SAVE = "Open it in a spreadsheet program, save it as CSV or XLSX, and upload that file."

MESSAGES = {
    "list_deleted": (
        "The list to run again was deleted or has expired. Upload its file as a new list."
    ),
    "empty_file": "The file is empty. Upload a file with one address per row.",
    "no_rows": "The file is blank, or has only a header. Upload a file with one address per row.",
    "old_spreadsheet": f"This is a spreadsheet in the old XLS format. {_SAVE}",
    "binary_spreadsheet": f"This is a spreadsheet in the binary XLSB format. {_SAVE}",
    "open_document": f"This is an OpenDocument file. {_SAVE}",
    "office_document": (
        "This is not a spreadsheet. Copy its addresses into a CSV file and upload that file."
    ),
    "protected_spreadsheet": (
        "The spreadsheet is protected by a password. Remove the password and upload it again."
    ),
    "damaged_spreadsheet": f"The spreadsheet is damaged. {_OPEN_AND_SAVE}",
    "spreadsheet_too_large": f"The spreadsheet is too large when unpacked. {_SAVE_AS_CSV}",
    "suspicious_archive": f"The spreadsheet is packed in an unusual way. {_SAVE_AS_CSV}",
    "compressed_file": "The file is compressed. Unpack it and upload the CSV or XLSX file in it.",
    "pdf": "This is a PDF. Copy its addresses into a CSV file and upload that file.",
    "image": "This is an image. Upload a CSV or XLSX file with one address per row.",
    "database_file": "This is a database file. Export the addresses as CSV and upload that file.",
    "html": f"This is a web page. {_OPEN_AND_SAVE}",
    "xml": f"This is an XML file. {_OPEN_AND_SAVE}",
    "json": "This is a JSON file. Upload a CSV or XLSX file with one address per row.",
    "rich_text": "This is a rich text document. Save it as plain text and upload it again.",
    "contacts": "This is a vCard file. Export the contacts as CSV and upload that file.",
    "binary_file": "This is not a text file or a spreadsheet. Upload a CSV or XLSX file.",
    "unclosed_quote": (
        "A quotation mark in line {line} is never closed. Close or remove it and upload the file"
        " again."
    ),
    "cell_too_long": (
        "A cell in line {line} has more than {limit} characters. Shorten it, or check line {line}"
        " for a quotation mark that is never closed."
    ),
    "line_too_long": (
        "Line {line} has more than {limit} characters. Put each address in a row of its own."
    ),
    "row_too_long": (
        "Row {row}, not counting blank rows, has more than {limit} characters. Put each address in"
        " a row of its own and upload the file again."
    ),
    "too_many_columns": (
        "Row {row}, not counting blank rows, has {columns} columns, and the limit is {limit}."
        " Delete the columns that you don't need and upload the file again."
    ),
    "out_of_memory": (
        "The file needs too much memory. Save it as CSV, or delete the columns and rows that you"
        " don't need, and upload it again."
    ),
    "took_too_long": (
        "Reading the file took too long. Save it as CSV or split it into smaller files, and upload"
        " it again."
    ),
    "reading_failed": (
        "We couldn't read the file because of an error on our side. Upload it again, or save it as"
        " CSV first."
    ),
}


class UnreadableFile(Exception):
    """Raised if a file has no readable rows. `message` is for the customer."""

    def __init__(self, code: str, **details: int) -> None:
        numbers = {name: f"{number:,}" for name, number in details.items()}
        self.code = code
        self.details = details
        self.message = MESSAGES[code].format(**numbers)
        super().__init__(code)
