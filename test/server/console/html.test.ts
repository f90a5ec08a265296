import { expect, test } from "vitest";
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
