import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readPage } from "../../../cli/memory/front-matter.ts";
import { idFor } from "../../../cli/memory/import-item.ts";
import { markdownName, markdownOf, readMarkdownAtom } from "../../../cli/memory/markdown-atom.ts";
import { readMarkdownFolder } from "../../../cli/memory/markdown-folder.ts";
import { readNote } from "../../../cli/memory/markdown-note.ts";
import { isInexact } from "../../../domain/parse-json.ts";
import { ANY_CHARACTER } from "../../env/any-character.ts";
import { examples } from "../../env/nightly.ts";

const ID = "019ab2c4-5d6e-7f80-91a2-b3c4d5e6f708";
const AT = Date.UTC(2026, 10, 1);
const noteOf = (text: string, path = "folder/Note.md") => readNote(readPage(text), path, AT);

describe("an atom as a Markdown file", () => {
  const text = fc.string({ unit: ANY_CHARACTER }).map((each) => each.toWellFormed().replaceAll("\u0000", ""));
  const lines = fc
    .array(fc.constantFrom("---", "", "\r", "\t- [x] #tag [[Link]]", "...", "a: b", "\uFEFF"))
    .map((each) => each.join("\n"));
  const facts = fc.dictionary(
    fc.oneof(text, fc.constantFrom("__proto__", "y", "1")),
    fc.oneof(
      text,
      lines,
      fc.boolean(),
      fc.double({ noDefaultInfinity: true, noNaN: true }).filter((n) => !Object.is(n, -0) && !isInexact(n)),
    ),
  );

  test("is the same when it is read again, whatever its fields have", () => {
    const atom = fc.record({
      content: fc.oneof(text, lines),
      tags: fc.uniqueArray(text),
      source: fc.oneof(text, fc.constantFrom("null", "2026-01-01", "yes", "0x10")),
      importance: fc.constantFrom(0, 5, 7.25, 10),
      metadata: facts,
      links: fc.array(fc.record({ rel: text, id: fc.constant(ID) })),
      created: fc.constant("2026-11-20T09:00:00.000Z"),
    });
    fc.assert(
      fc.property(atom, (fields) => {
        const { tags, metadata, links, ...rest } = fields;
        const file = markdownOf({ id: ID, ...fields, expiresAt: null });
        expect(readMarkdownAtom(readPage(file), "x")?.atom).toEqual({
          ...{ id: ID, ...rest },
          ...(tags.length > 0 && { tags }),
          ...(Object.keys(metadata).length > 0 && { metadata }),
          ...(links.length > 0 && { links }),
        });
      }),
      { numRuns: examples(40) },
    );
  });

  test("is the same where an editor or git has written it with the ends of lines of Windows", () => {
    const file = markdownOf({ id: ID, content: "One.\n\nTwo.", tags: ["a"] }).replaceAll("\n", "\r\n");
    expect(readMarkdownAtom(readPage(file), "x")?.atom).toEqual({ id: ID, content: "One.\n\nTwo.", tags: ["a"] });
  });

  test.each([
    ["# Deploy freeze: ends on Monday\nmore", "deploy-freeze-ends-on-monday-b3c4d5e6f708.md"],
    ["../../etc/passwd", "etc-passwd-b3c4d5e6f708.md"],
    ["C:\\x\u0000\u202E|?*", "c-x-b3c4d5e6f708.md"],
    ["日本語 Ärger", "日本語-ärger-b3c4d5e6f708.md"],
    ["", "atom-b3c4d5e6f708.md"],
    ["...", "atom-b3c4d5e6f708.md"],
    [
      "so many words that they are cut, and not at the end of one",
      "so-many-words-that-they-are-cut-and-not-b3c4d5e6f708.md",
    ],
  ])("has a name of the first line that is safe: %j", (content, name) => {
    expect(markdownName({ id: ID, content }, false)).toBe(name);
  });

  test.each(["/../../../home/anna/.profile", "x", ""])("has no name where its id is none: %j", (id) => {
    for (const isWholeId of [false, true])
      expect(() => markdownName({ id, content: "x" }, isWholeId)).toThrow("an atom whose id is no UUID");
  });

  test("has a name of 255 bytes at most, with no character that means something to a file system", () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 200 }), fc.boolean(), (content, isWholeId) => {
        const name = markdownName({ id: ID, content }, isWholeId);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(name).toMatch(/^[\p{L}\p{N}\p{M}-]+-[0-9a-f-]+\.md$/u);
        expect(name).toMatch(/^[^-]/);
      }),
    );
    expect(Buffer.byteLength(markdownName({ id: ID, content: "𐀀".repeat(99) }, true))).toBeLessThanOrEqual(255);
  });
});

describe("a note", () => {
  test("of basic-memory has its type, tags and categories as tags, its relations as links, and all of its text", () => {
    const body = `# Coffee Brewing

- [method] Pour over gives more clarity #brewing (my own view)
- [ ] buy beans
- requires [[Grinding]] (at home)
- contrasts_with [[Tea|tea]]
- As [[Anna]] and [[Bob]] say
See [[Beans#Origins]] | [[Milk\\|hot]], not \`[[Code]]\`.
\`\`\`c
#include [[Fence]]
\`\`\``;
    const note = noteOf(
      `---\ntitle: Coffee Brewing\ntype: guide\npermalink: coffee/brewing\ntags: [coffee, '#hot']\nstatus: active\n---\n\n${body}\n`,
    );
    expect(note).toEqual({
      ...{ path: "folder/Note.md", title: "Coffee Brewing", aliases: [], permalink: "coffee/brewing", content: body },
      tags: ["guide", "coffee", "hot", "method", "brewing"],
      facts: { status: "active", created: undefined, date: undefined, updated: undefined, modified: undefined },
      links: [
        { rel: "requires", target: "Grinding", isEmbed: false },
        { rel: "contrasts_with", target: "Tea", isEmbed: false },
        ...["Anna", "Bob", "Beans", "Milk"].map((target) => ({ rel: "links to", target, isEmbed: false })),
      ],
      times: { created: "2026-11-01T00:00:00.000Z", updated: "2026-11-01T00:00:00.000Z" },
    });
  });

  test("of Obsidian has its name above its text, its properties and their links, and its own times", () => {
    const note = noteOf(
      '---\naliases: [N, Nota]\ntags: "project, #a/b idea"\ntype: note\nrelated: "[[Other]]"\ncreated: 2024-05-01 09:30\nupdated: soon\n---\nSee ![[photo.png]] #2024 #y2024\n',
    );
    expect(note).toMatchObject({
      ...{ title: "Note", content: "Note\n\nSee ![[photo.png]] #2024 #y2024", aliases: ["N", "Nota"] },
      tags: ["project", "a/b", "idea", "y2024"],
      facts: { aliases: ["N", "Nota"], related: "[[Other]]", updated: "soon" },
      links: [
        { rel: "related", target: "Other", isEmbed: false },
        { rel: "links to", target: "photo.png", isEmbed: true },
      ],
      times: { created: "2024-05-01T09:30:00.000Z" },
    });
  });

  const linksIn = (text: string) =>
    noteOf(text).links.map(({ rel, target }) => (rel === "links to" ? target : { rel, target }));

  test.each<[string, readonly unknown[]]>([
    ["[hosts](Hosts.md) and [billing](projects/Billing.md#state)", ["Hosts.md", "projects/Billing.md"]],
    ["[one](<Notes with space.md>) [two](Notes%20with%20space.md)", Array(2).fill("Notes with space.md")],
    [
      '[a](b.md "title") [a](c.md \'its (one)\') [a](<d.md> (title)) [a]( e.md\n"two\nlines" )',
      ["b.md", "c.md", "d.md", "e.md"],
    ],
    [
      "[a](../Up.md), [a](./Here.md), [a](/Top.md), [a](No-Extension)",
      ["../Up.md", "./Here.md", "/Top.md", "No-Extension"],
    ],
    [
      "[a](Foo_(bar).md) [a](Foo\\(bar.md) [a](R&amp;D.md) [a](%E4%B8%9C.md) [a](100%.md)",
      ["Foo_(bar).md", "Foo(bar.md", "R&D.md", "东.md", "100%.md"],
    ],
    ["[a [b] `]` c](b.md) [![alt](img.png)](c.md) [two\nlines](d.md) [](e.md)", ["b.md", "c.md", "d.md", "e.md"]],
    ["[outer [inner](b.md)](c.md) ![picture [of](d.md)](e.md)", ["b.md", "d.md"]],
    [
      '[text][Ref One] [ref  one][] [REF ONE] [other] [^1]\n\n[ref one]: One.md "title"\n[other]: <An other.md>\n[other]: b.md\n[^1]: foot.md',
      [...Array(3).fill("One.md"), "An other.md"],
    ],
    [
      "- works_on [Billing](Billing.md)\n- owns: [A](a.md) (since May)\n- [one](b.md) and [[c]]",
      [{ rel: "works_on", target: "Billing.md" }, { rel: "owns", target: "a.md" }, "b.md", "c"],
    ],
    ["[[Target]] [x](y.md) [[#Heading]] [z](#heading)", ["Target", "y.md"]],
    ['---\nrelated: "[x](X.md)"\n---\n', [{ rel: "related", target: "X.md" }]],
    [
      "[x](https://example.com/a.md) [x](mailto:a@b.md) [x](//host/a.md) [x](obsidian://open?file=a.md) [x]() [x](<>)",
      [],
    ],
    ["![alt](a.md) \\[a](a.md) [a]\\(a.md) [a] (a.md) [a](b c.md) [a](a.md [x]", []],
    ["`[a](a.md)` ``[a](a.md) ` [b](b.md)`` `two\n[a](a.md)\nlines`", []],
    [
      "```\n[a](a.md)\n```\n~~~ md\n[a](a.md)\n```\n[[b]]\n~~~~\n- ```\n  [a](a.md)\n  ```\n> ~~~\n> [[c]]\n> ~~~\n[d](d.md)",
      ["d.md"],
    ],
    ["````md\n```\n[[a]] #no\n```\n[a](a.md)\n````\n[b](b.md)\n~~~~\n~~~\n[a](a.md)\n~~~~ x\n[a](a.md)", ["b.md"]],
    ["text\n\n    [a](a.md)\n\n\t[[b]]\n\n- item\n\n    [c](c.md)\n\nend\n    [d](d.md)", ["c.md", "d.md"]],
    ["a ` b [c](c.md)\n\n` [d](d.md)\n- a ` b [[e]] c\n- ` [[f]] d", ["c.md", "d.md", "e", "f"]],
    [
      "> ```\n> [[a]]\n\n[b](b.md)\n> > ~~~\n> > [[c]]\n> [d](d.md)\n> - ```\n>   [[e]]\n> [[f]]",
      ["b.md", "d.md", "f"],
    ],
    ["> ```\n> [[a]]\n>\n> [[b]]\n> ```\n> [c](c.md)\n```\n> ```\n[[d]]\n```\n[e](e.md)", ["c.md", "e.md"]],
    [
      "- a:\n  ```sh\n  [[a]]\n\n[b](b.md)\n\n1. x\n   - y\n\n     ~~~\n     [[c]]\n   [d](d.md)\n- ```\n  [[e]]\n- [f](f.md)\n\t```\n\t[[g]]\nh\n[h](h.md)",
      ["b.md", "d.md", "f.md", "h.md"],
    ],
    ["- a\n\n  ```\n\n  [[a]]\n   ```\n [b](b.md)\n\nend\n\n  ```\n[[c]]\n  ```\n[d](d.md)", ["b.md", "d.md"]],
    ["text:\n\n    ```\n    [[a]]\n\n[b](b.md)\n    ~~~\n[c](c.md)\n\n\t~~~\n\n[d](d.md)", ["b.md", "c.md", "d.md"]],
    ["```\n    ```\n[[a]]\n```\n[b](b.md)", ["b.md"]],
    ["- ```\n  [[a]]\n> ```\n> [[b]]\n> ```\n- c\n# d\n  ```\n[[e]]\n  ```\n[f](f.md)", ["f.md"]],
    ["> - a\n>\n> b\n>\n>   ```\n> [[c]]\n>   ```\n> [d](d.md)\n\n    > ```\n[e](e.md)", ["d.md", "e.md"]],
    ["> See [p], [q] and [r]\n>\n> [p]: p.md\n> > [q]: q.md\n\n- x\n\n    [r]: <r s.md>", ["p.md", "q.md", "r s.md"]],
  ])("has links as CommonMark and Obsidian have them: %j", (text, links) => {
    expect(linksIn(text)).toEqual(links);
  });

  test("has no tag out of code, or out of where a link leads", () => {
    const text = "````\n```\n#a\n```\n#b\n````\n~~~\n#c\n~~~~\n[x](#d) [[#e]] [x]( #f ) ![x](#g) `#h` #i [#j] (#k)";
    expect(noteOf(text).tags).toEqual(["i", "j", "k"]);
  });

  test("is read to its end where what begins as a link has thousands of escaped marks and no end", () => {
    for (const mark of ["\\!", "\\>", "\\\\", '\\"', "\\(", "\\x"]) {
      const marks = mark.repeat(5000);
      for (const open of ["[a](<", "[a](", '[a](b "', "[a](b (", "[a]: ", "[a]: <", '[a]: b "', "[a][", "["]) {
        expect(linksIn(`${open}${marks}\n\n[b](b.md)`)).toEqual(["b.md"]);
      }
    }
    expect(linksIn("[a](<a\\>) [b](<b\\>b\\x.md>)")).toEqual(["b>b\\x.md"]);
  });

  test("loses nothing of its front matter, whatever that is", () => {
    const note = noteOf(
      "---\ntitle: [A, B]\ntype: [true, { x: 1 }]\ntags: [true, 2024, 1.5, [deep], { a: b }, null]\npermalink: { c: d }\n---\ntext",
    );
    expect(note).toMatchObject({
      ...{ title: "Note", permalink: undefined, tags: ["true", "true", "2024", "1.5", "deep"] },
      facts: { title: ["A", "B"], type: [{ x: 1 }], tags: [{ a: "b" }], permalink: { c: "d" } },
    });
    expect(noteOf("---\ntitle: false\ntags: true\ntype: 7\n---\nfalse")).toMatchObject({
      ...{ title: "false", content: "false", tags: ["7", "true"] },
    });
  });

  test.each<[string, string]>([
    ["---\nno end", "Note\n\n---\nno end"],
    ["---\njust text\n---\nbehind", "Note\n\n---\njust text\n---\nbehind"],
    ["", "Note"],
    ["## Note", "## Note"],
  ])("without front matter is text: %j", (text, content) => {
    expect(noteOf(text).content).toBe(content);
  });

  test("is read whatever its text is, and no line of it is lost; or its front matter is refused", () => {
    const part = fc.constantFrom(
      "---\n",
      "a: [b\n",
      "[[x",
      "]]",
      "![[",
      "#t",
      "- [c] ",
      "`",
      "```\n",
      "\r\n",
      "title: x\n",
      "\n",
      "&a *a",
      "](",
      "<b.md>)",
      "[a]: b",
      "\\",
      "~~~~\n",
      "    ",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ unit: ANY_CHARACTER }))), (parts) => {
        const text = parts.join("");
        let page: ReturnType<typeof readPage>;
        try {
          page = readPage(text);
        } catch (error) {
          expect((error as Error).message).toContain("its front matter");
          return;
        }
        expect(readNote(page, "x.md", AT).content).toContain(page.body.trim());
      }),
    );
  });

  test("keeps each digit of a whole number in its front matter", () => {
    const { matter } = readPage("---\nid: 1234567890123456789\nsmall: 7\n---\n");
    expect(matter).toEqual({ id: "1234567890123456789", small: 7 });
  });

  test("is refused by its front matter where that has a name twice, whichever depth that is at", () => {
    expect(() => readPage("---\na: 1\nb: { c: 1, c: 2 }\n---\n")).toThrow('its front matter has "c" twice');
    expect(() => readPage("---\n1: a\n'1': b\n---\n")).toThrow('its front matter has "1" twice');
    expect(readPage("---\na: { c: 1 }\nb: { c: 2 }\n---\n").matter).toEqual({ a: { c: 1 }, b: { c: 2 } });
  });
});

describe("a folder of Markdown", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "vault-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const source = () => folder.slice(folder.lastIndexOf("/") + 1);
  const write = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    utimesSync(join(folder, path), AT / 1000, AT / 1000);
  };

  test("has an atom for each file, with links by title, path, alias and permalink; what leads nowhere is counted", async () => {
    write("a/Anna.md", "Knows [[Bob]], [[b/Note]], [[NOTA]], [[some/permalink]], [[Absent]], ![[p.png]], [[Anna]].");
    write("a/Bob.md", "near");
    write("Bob.md", "far");
    write("b/Note.md", "---\naliases: Nota\npermalink: some/permalink\n---\n- knows [[Bob]]");
    const { items, strayLinks, leftOut } = await readMarkdownFolder(folder);
    const [anna, near, far, note] = ["a/Anna.md", "a/Bob.md", "Bob.md", "some/permalink"].map((name) =>
      idFor(source(), name),
    );
    expect([strayLinks, leftOut]).toEqual([1, []]);
    const by = new Map(items.map(({ where, atom }) => [where, atom]));
    expect(by.get("a/Anna.md")).toMatchObject({
      ...{ id: anna, source: `${source()}/a/Anna.md`, created: "2026-11-01T00:00:00.000Z" },
      links: [near, note, anna].map((id) => ({ rel: "links to", id })),
    });
    expect(by.get("a/Bob.md")?.id).toBe(near);
    expect(by.get("b/Note.md")).toMatchObject({ id: note, links: [{ rel: "knows", id: far }] });
  });

  test("is linked by the links of CommonMark, from where they are; those to the web and to pictures are not counted", async () => {
    write("Index.md", "[hosts](Hosts.md) [b](projects/Billing.md#state) [one](<With space.md>) [two](With%20space.md)");
    write(
      "projects/Billing.md",
      "[x](../Hosts.md) [y](/Hosts.md) [z](Absent.md) [w](https://example.com/a.md) [p](p.png)",
    );
    for (const name of ["Hosts.md", "With space.md", "projects/Hosts.md"]) write(name, "text");
    const { items, strayLinks } = await readMarkdownFolder(folder);
    const linked = (path: string) => items.find(({ where }) => where === path)?.atom.links;
    const to = (...paths: string[]) => paths.map((path) => ({ rel: "links to", id: idFor(source(), path) }));
    expect(linked("Index.md")).toEqual(to("Hosts.md", "projects/Billing.md", "With space.md"));
    expect(linked("projects/Billing.md")).toEqual(to("Hosts.md"));
    expect(strayLinks).toBe(1);
  });

  test("is read without hidden ones, links and other files; a bad file is named, and refuses no other", async () => {
    write(".obsidian/x.md", "hidden");
    write("picture.png", "no text");
    write("good.md", "Good.");
    write("latin1.md", Buffer.from([0xe4, 0xf6]));
    write("yaml.md", "---\ntitle: a: b\n---\n");
    write(
      "bomb.md",
      `---\n${["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdefghi".split("").map((c, i) => `${c}: &${c} [${Array(9).fill(`*${"abcdefgh"[i]}`)}]`)].join("\n")}\n---\n`,
    );
    write("large.md", "x".repeat(1_001));
    const copy = markdownOf({ id: ID, content: "x" });
    write("one.md", copy);
    write("two.md", copy);
    symlinkSync("/etc", join(folder, "out"));
    symlinkSync(join(folder, "good.md"), join(folder, "link.md"));
    const { items, leftOut } = await readMarkdownFolder(folder, { files: 20, fileBytes: 1_000, bytes: 10_000 });
    expect(items.map(({ where }) => where)).toEqual(["one.md", "good.md"]);
    expect(Object.fromEntries(leftOut.map(({ what, why }) => [what, why]))).toEqual({
      "latin1.md": expect.stringContaining("UTF-8"),
      "yaml.md": expect.stringContaining("no YAML on line 2"),
      "bomb.md": expect.stringContaining("too many aliases"),
      "large.md": expect.stringContaining("1001 bytes, of 1000"),
      "two.md": expect.stringContaining("the atom of one.md again"),
    });
  });

  test("is refused where there is nothing in it, or too much", async () => {
    await expect(readMarkdownFolder(folder)).rejects.toThrow("no file that ends with .md");
    for (const name of ["a", "b", "c"]) write(`${name}.md`, "xxxx");
    const limits = { files: 3, fileBytes: 10, bytes: 12 };
    expect((await readMarkdownFolder(folder, limits)).items).toHaveLength(3);
    await expect(readMarkdownFolder(folder, { ...limits, files: 2 })).rejects.toThrow("more than 2 files");
    await expect(readMarkdownFolder(folder, { ...limits, bytes: 11 })).rejects.toThrow("more than 11 bytes");
    await expect(readMarkdownFolder(join(folder, "nowhere"))).rejects.toThrow("there is no such file");
  });
});
