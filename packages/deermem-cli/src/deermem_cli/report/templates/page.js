"use strict";
// Headings of sortable tables become buttons; without this script the tables are as they were.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const rows = [...table.tBodies[0].rows];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const order = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      table.tBodies[0].append(...[...rows].sort((a, b) => sign * compare(a, b, column)));
    });
  });
}

function compare(a, b, column) {
  const [x, y] = [key(a.cells[column]), key(b.cells[column])];
  const [i, j] = [Number(x), Number(y)];
  if (x !== "" && y !== "" && !Number.isNaN(i) && !Number.isNaN(j)) return i - j;
  return x < y ? -1 : x > y ? 1 : 0;
}

function key(cell) {
  return cell.dataset.sort ?? cell.textContent.trim();
}

// A table that fits needs no stop of the keyboard.
const fits = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});
for (const region of document.querySelectorAll(".scroll")) fits.observe(region);
