"""Say in which time zone the usage page shows its numbers. Pure."""

from datetime import tzinfo

from validation.reports.date_ranges import Unit


def time_zone_note(unit: Unit | None, zone: tzinfo) -> str:
    """Say where the days or hours begin. Only hours are in the viewer's time zone."""
    if unit != Unit.HOUR:
        return "Days are in UTC."
    if str(zone) == "UTC":
        return "Hours are in UTC."
    return f"Hours are in {zone}, your time zone; dates are days of UTC."


def interval_heading(unit: Unit, zone: tzinfo) -> str:
    return f"{unit.capitalize()} ({zone if unit == Unit.HOUR else 'UTC'})"
