import { describe, expect, test } from "vitest";
import { auditDetail } from "../../../server/console/audit/audit-words.ts";
import { flag, html } from "../../../server/pages/html.ts";
import { isolated } from "../../../server/pages/isolated-text.ts";

test("a page escapes what is put into it, in text and in attributes", () => {
  const name = `"><img src=x onerror='alert(1)'>&amp;`;
  expect(String(html`<b title="${name}">${name}</b>`)).toBe(
    '<b title="&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;">&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;</b>',
  );
});

test("a page takes pieces of pages as they are, lists in their order, and shows nothing of what is none", () => {
  const items = ["<1>", "2"].map((text) => html`<li>${text}</li>`);
  expect(String(html`<ul>${items}</ul>${undefined}${null}${false}${true}${0}`)).toBe(
    "<ul><li>&lt;1&gt;</li><li>2</li></ul>0",
  );
});

test("a page has an attribute without a value where it is on", () => {
  expect(String(html`<input ${flag("checked", true)}><input ${flag("checked", false)}>`)).toBe(
    "<input checked><input >",
  );
});

describe("A name that turns the direction of text", () => {
  const CASES = [
    ["a right-to-left override", "a\u202eb", "a\u202eb"],
    ["letters from right to left", "שלום", "שלום"],
    ["an end of an isolate too many", "a\u2069\u202eb", "a\u202eb"],
    ["an isolate without its end", "\u202e\u2067a", "\u202e\u2067a\u2069"],
    ["a paragraph's end", "a\u2029\u202eb", "a \u202eb"],
  ] as const;

  test.for(CASES)("b118: is kept apart where it stands: %s", ([, name, shown]) => {
    expect(html`<td>${name}</td><td>payments</td>`.toString()).toBe(`<td><bdi>${shown}</bdi></td><td>payments</td>`);
    expect(html`<p>${["of ", name]}</p>`.toString()).toBe(`<p>of <bdi>${shown}</bdi></p>`);
  });

  test.for(CASES)("b118: is between isolating marks where no element can keep it apart: %s", ([, name, shown]) => {
    const apart = `\u2068${shown}\u2069`;
    expect(html`<title>${name} · Keyplane</title>`.toString()).toBe(`<title>${apart} · Keyplane</title>`);
    expect(html`<option value="x" ${flag("selected", true)}>${name} (payments)</option>`.toString()).toBe(
      `<option value="x" selected>${apart} (payments)</option>`,
    );
    expect(html`<a href="/a?b=1" title="Of ${name} here" aria-label="Open ${name} of ${["a", name]}">`.toString()).toBe(
      `<a href="/a?b=1" title="Of ${apart} here" aria-label="Open ${apart} of a${apart}">`,
    );
  });

  test("b118: is as it is where a form sends it, or a program reads it", () => {
    const name = "a\u202eb";
    const said = [
      html`<input value="${name}">`,
      html`<input title="x" value="${name}">`,
      html`<option value="${name}"></option>`,
      html`<textarea>${name}</textarea>`,
      html`<button data-title="${name}">`,
    ].join("");
    expect(said).not.toMatch(/bdi|[\u2068\u2069]/);
    expect(said.split(name)).toHaveLength(6);
  });

  test("b118: is kept apart from others that stand in one text with it, up to its last line", () => {
    expect(["docs", "a\u202eb", "a\n\u2069\u202eb"].map(isolated).join(", ")).toBe(
      "docs, \u2068a\u202eb\u2069, \u2068a \u202eb\u2069",
    );
    const members = [
      { role: "viewer", value: "g\u202e" },
      { role: "admin", value: "שלום" },
    ];
    const detail = { changed: { members: { before: [], after: members } } };
    expect(auditDetail({ detail }, new Map()).toString()).toContain(
      "role: viewer, value: \u2068g\u202e\u2069;\nrole: admin, value: \u2068שלום\u2069<",
    );
  });

  test("b118: has no marks put beside it where it turns nothing", () => {
    expect(html`<title>${"docs"}</title><a title="${"docs"}">`.toString()).toBe('<title>docs</title><a title="docs">');
  });
});
