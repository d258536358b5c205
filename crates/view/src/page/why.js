// Panel that explains what ended the run, or what slows it: the page that `tisane why` prints.

import { why } from "./api.js";

/** Returns an element with a text or children. */
function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}

function table({ columns, rows }) {
  const line = (cells, name) => element("tr", ...columns.map((_, k) => element(name, cells[k] ?? "")));
  return element("table", element("thead", line(columns, "th")), element("tbody", ...rows.map((cells) => line(cells, "td"))));
}

function section({ title, table: found, facts }) {
  const made = element("section", element("h3", title));
  if (found) {
    // A wide table scrolls by itself.
    const frame = element("div", table(found));
    frame.className = "wide";
    made.append(frame);
  }
  if (facts.length) made.append(element("dl", ...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)])));
  return made;
}

function advice(all) {
  const items = all.map(({ text, command }) => element("li", text, ...(command ? [element("pre", command)] : [])));
  return element("section", element("h3", "What to do"), element("ol", ...items));
}

export class Why {
  constructor(find) {
    this.dialog = find("why");
    this.page = find("why-page");
    find("why-open").addEventListener("click", () => this.open());
    find("why-again").addEventListener("click", () => this.read());
  }

  open() {
    if (!this.dialog.open) this.dialog.showModal();
    this.read();
  }

  /** Asks for the page and shows it. Reading the particles takes a moment, so that this is not done by itself. */
  async read() {
    this.page.setAttribute("aria-busy", "true");
    if (!this.page.childElementCount) this.page.replaceChildren(element("p", "reading the files of the run …"));
    try {
      const page = await why();
      const answer = element("div", ...page.answer.map((sentence) => element("p", sentence)));
      answer.className = "answer";
      const title = element("p", page.title);
      title.className = "facts";
      // Beside the answer: the end of the page may be out of sight.
      const remedies = page.advice.length ? [advice(page.advice)] : [];
      this.page.replaceChildren(title, answer, ...remedies, ...page.sections.map(section));
    } catch (problem) {
      this.page.replaceChildren(element("p", `not known: ${problem.message}`));
    } finally {
      this.page.removeAttribute("aria-busy");
    }
  }
}
