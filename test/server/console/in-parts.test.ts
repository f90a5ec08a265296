import { expect, test } from "vitest";
import { inParts } from "../../../server/console/in-parts.ts";

test.for([
  ["https://api.example.com/v1", "https://|api.|example.|com/|v1"],
  ["http://127.0.0.1:8080/g/models", "http://127.0.0.1:8080/|g/|models"],
  ["urn:pulumi:prod::app::keyplane:index/key:Key", "urn:|pulumi:|prod::|app::|keyplane:|index/|key:|Key"],
  ["ada.lovelace@example.com", "ada.|lovelace@|example.|com"],
  ["claude-sonnet-4.5", "claude-sonnet-4.5"],
  ["a/b<script>", "a/|b&lt;script&gt;"],
])("%s breaks behind its marks alone", ([text = "", parts]) => {
  expect(inParts(text).toString()).toBe(parts?.replaceAll("|", "<wbr>"));
});

test("a text that turns the direction of writing stays whole", () => {
  expect(inParts("a/\u05d0/b").toString()).not.toContain("<wbr>");
});
