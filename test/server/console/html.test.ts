import { describe, expect, test } from "vitest";
import { flag, html } from "../../../server/console/html.ts";

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
  test.for([
    ["a right-to-left override", "a\u202eb", "a\u202eb"],
    ["letters from right to left", "שלום", "שלום"],
    ["an end of an isolate too many", "a\u2069\u202eb", "a\u202eb"],
    ["an isolate without its end", "\u202e\u2067a", "\u202e\u2067a\u2069"],
    ["a paragraph's end", "a\u2029\u202eb", "a \u202eb"],
  ] as const)("is kept apart where it stands: %s", ([, name, shown]) => {
    expect(html`<td>${name}</td><td>payments</td>`.toString()).toBe(`<td><bdi>${shown}</bdi></td><td>payments</td>`);
    expect(html`<p>${["of ", name]}</p>`.toString()).toBe(`<p>of <bdi>${shown}</bdi></p>`);
  });

  test("is as it is in attributes, which forms send, and in what holds text alone", () => {
    const name = "a\u202eb";
    const pages = [
      html`<input value="${name}">`,
      html`<title>${name} · Keyplane</title>`,
      html`<option value="x">${name}</option>`,
    ];
    for (const page of pages) expect(page.toString()).not.toContain("bdi");
  });
});
