"use strict";
// A board for each game that follows the selected move. Squares are numbered from a8, 0, to h1, 63.
(() => {
  const [PIECES, LAST, BEST, LABEL, MARK, CLASS, SCORE, CHANCES, LINE, NOTES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const space = document.querySelector("svg").namespaceURI;
  const games = [];
  let current = null;

  const element = (name, attributes, parent) => {
    const made = name.startsWith("svg:")
      ? document.createElementNS(space, name.slice(4))
      : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "text") made.textContent = value; else made.setAttribute(key, value);
    }
    parent?.append(made);
    return made;
  };

  class Game {
    constructor(section) {
      this.section = section;
      this.data = JSON.parse(section.querySelector("script").textContent);
      this.board = section.querySelector(".main-board svg");
      this.caption = section.querySelector(".caption");
      this.graph = section.querySelector(".graph svg");
      this.cursor = section.querySelector(".graph .cursor");
      this.buttons = [...section.querySelectorAll(".moves button")];
      this.turned = false;
      this.ply = 0;
      section.querySelector(".buttons").hidden = false;
      section.addEventListener("click", (event) => this.click(event));
      if (this.graph) {
        const choose = (event) => {
          const box = this.graph.getBoundingClientRect();
          this.show(Math.round((event.clientX - box.left) / box.width * (this.data.length - 1)));
        };
        this.graph.addEventListener("pointerdown", (event) => {
          this.graph.setPointerCapture(event.pointerId);
          choose(event);
        });
        this.graph.addEventListener("pointermove", (event) => {
          if (event.buttons === 1) choose(event);
        });
        this.graph.setAttribute("role", "slider");
        this.graph.setAttribute("tabindex", "0");
        this.graph.setAttribute("aria-valuemin", "0");
        this.graph.setAttribute("aria-valuemax", String(this.data.length - 1));
      }
    }

    click(event) {
      current = this;
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.ply) {
        this.show(Number(button.dataset.ply));
        if (button.closest(".card")) this.board.scrollIntoView({ block: "nearest", behavior: "smooth" });
      } else if (button.dataset.go) {
        this.go(button.dataset.go);
      }
    }

    go(where) {
      const last = this.data.length - 1;
      const marked = (step) => {
        for (let ply = this.ply + step; ply > 0 && ply <= last; ply += step) {
          if (this.data[ply][MARK]) return ply;
        }
        return this.ply;
      };
      if (where === "turn") this.turned = !this.turned;
      const places = {
        start: 0, end: last, back: this.ply - 1, on: this.ply + 1, mark: marked(1), "mark-back": marked(-1),
      };
      this.show(places[where] ?? this.ply);
    }

    show(ply, quietly) {
      if (!this.data.length) return;
      this.ply = Math.max(0, Math.min(ply, this.data.length - 1));
      const now = this.data[this.ply];
      this.draw(now);
      this.tell(now);
      for (const button of this.buttons) {
        const selected = Number(button.dataset.ply) === this.ply;
        if (selected) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
        if (selected) {
          const list = button.parentElement;
          if (list.scrollHeight > list.clientHeight) {
            list.scrollTop = button.offsetTop - list.offsetTop - list.clientHeight / 2;
          }
        }
      }
      if (this.ply === 0 && this.buttons[0]) this.buttons[0].parentElement.scrollTop = 0;
      if (this.graph) {
        const x = 1000 * this.ply / (this.data.length - 1);
        this.cursor.setAttribute("d", `M${x} 0V260`);
        this.graph.setAttribute("aria-valuenow", String(this.ply));
        this.graph.setAttribute("aria-valuetext", `${now[LABEL]}${now[MARK]}, ${now[SCORE]}`);
      }
      if (!quietly) {
        try {
          history.replaceState(null, "", `#${this.section.id}.${this.ply}`);
        } catch (error) {
          // Some browsers allow it for no local file; the address is a convenience.
        }
      }
    }

    corner(square) {
      const place = this.turned ? 63 - square : square;
      return [place % 8 * 100, Math.floor(place / 8) * 100];
    }

    draw(now) {
      const label = ["Board", now[LABEL] + now[MARK], now[PIECES]].join(", ");
      this.board.replaceChildren();
      this.board.setAttribute("aria-label", label);
      element("svg:use", { href: "#board" }, this.board);
      for (const square of now[LAST] ?? []) {
        const [x, y] = this.corner(square);
        element("svg:path", { class: "lit", d: `M${x} ${y}h100v100h-100z` }, this.board);
      }
      for (let i = 0; i < 8; i++) {
        const file = this.turned ? 7 - i : i;
        const rank = this.turned ? i + 1 : 8 - i;
        element("svg:text", { class: `place on${i % 2}`, x: i * 100 + 94, y: 793, "text-anchor": "end", text: "abcdefgh"[file] }, this.board);
        element("svg:text", { class: `place on${(i + 1) % 2}`, x: 5, y: i * 100 + 24, text: rank }, this.board);
      }
      let square = 0;
      for (const letter of now[PIECES]) {
        if (letter === "/") continue;
        if (letter >= "1" && letter <= "8") {
          square += Number(letter);
          continue;
        }
        const [x, y] = this.corner(square++);
        const shape = letter.toLowerCase();
        element("svg:use", {
          href: `#${shape}`, class: letter === shape ? "b" : "w", x, y, width: 100, height: 100,
        }, this.board);
      }
      if (now[BEST]) this.arrow(now[BEST]);
      if (now[MARK]) {
        const [x, y] = this.corner(now[LAST][1]);
        const cx = Math.min(x + 88, 772);
        const cy = Math.max(y + 12, 28);
        const badge = element("svg:g", { class: `badge ${now[CLASS]}` }, this.board);
        element("svg:circle", { cx, cy, r: 26 }, badge);
        element("svg:text", { x: cx, y: cy + 12, "text-anchor": "middle", text: now[MARK] }, badge);
      }
    }

    arrow([from, to]) {
      const [x, y, toX, toY] = [...this.corner(from), ...this.corner(to)].map((value) => value + 50);
      const length = Math.hypot(toX - x, toY - y);
      const [dx, dy] = [(toX - x) / length, (toY - y) / length];
      const [neckX, neckY] = [toX - 42 * dx, toY - 42 * dy];
      const made = element("svg:g", { class: "arrow next" }, this.board);
      element("svg:path", { d: `M${x} ${y}L${neckX} ${neckY}` }, made);
      element("svg:path", {
        class: "tip",
        d: `M${toX} ${toY}L${neckX - 21 * dy} ${neckY + 21 * dx}L${neckX + 21 * dy} ${neckY - 21 * dx}z`,
      }, made);
    }

    tell(now) {
      this.caption.replaceChildren();
      const head = element("p", { class: "head" }, this.caption);
      const move = element("span", { class: "move", text: now[LABEL] }, head);
      if (now[MARK]) element("b", { class: now[CLASS], text: now[MARK] }, move);
      element("span", { class: "score", text: now[SCORE] }, head);
      const [win, draw, loss] = now[CHANCES].map((chance) => Math.round(chance / 10));
      const bar = element("span", {
        class: "chances", role: "img", "aria-label": `White wins ${win} %, draw ${draw} %, black wins ${loss} %`,
        title: `White wins ${win} %, draw ${draw} %, black wins ${loss} %`,
      }, head);
      for (const [name, chance] of [["win", now[CHANCES][0]], ["draw", now[CHANCES][1]], ["loss", now[CHANCES][2]]]) {
        element("i", { class: name }, bar).style.width = `${chance / 10}%`;
      }
      for (const note of now[NOTES]) element("p", { text: note }, this.caption);
      if (now[LINE]) element("p", { class: "line", text: `Best line from here: ${now[LINE]}` }, this.caption);
    }
  }

  for (const section of document.querySelectorAll("section.game")) games.push(new Game(section));

  // One game at a time; the address tells which, and which move: #g2.31
  const open = () => {
    const [id, ply] = location.hash.slice(1).split(".");
    const chosen = games.find((game) => game.section.id === id) ?? (games.length === 1 ? games[0] : null);
    for (const game of games) game.section.hidden = games.length > 1 && game !== (chosen ?? games[0]);
    current = chosen ?? games[0] ?? null;
    current?.show(Number(ply) || 0, true);
    for (const link of document.querySelectorAll(".index a")) {
      const selected = current && link.getAttribute("href") === `#${current.section.id}`;
      link.closest("tr").classList.toggle("selected", Boolean(selected));
    }
  };
  window.addEventListener("hashchange", open);
  open();

  const keys = {
    ArrowLeft: "back", ArrowRight: "on", ArrowUp: "mark-back", ArrowDown: "mark", Home: "start", End: "end", f: "turn",
  };
  document.addEventListener("keydown", (event) => {
    const where = keys[event.key];
    if (!where || !current || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    current.go(where);
  });
})();
