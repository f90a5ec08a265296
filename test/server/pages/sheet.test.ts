import { expect, test } from "vitest";
import { packedSheet } from "../../../server/pages/sheet.ts";

test.each([
  [
    "what only people read",
    "/* Why. */\na {\n  /* And\n this. */\n  color: red;\n  margin: 0 auto;\n}\n",
    "a{color:red;margin:0 auto}",
  ],
  ["no space that joins two selectors", "a :hover,\n&:is(b > c) d {\n  top: 0;\n}", "a :hover,&:is(b > c) d{top:0}"],
  [
    "no space beside a sign of arithmetic",
    "a { width: calc(100% - 2 * (1px + 2px)); }",
    "a{width:calc(100% - 2 * (1px + 2px))}",
  ],
  ["nothing between quotes", 'a::before { content: "a:  b; }"; }', 'a::before{content:"a:  b; }"}'],
  [
    "what stands for the rule around another",
    "a {\n  & b,\n  & > c {\n    top: 0;\n  }\n\n  d &,\n  &:hover {\n    top: 0;\n  }\n}",
    "a{b,> c{top:0}d &,&:hover{top:0}}",
  ],
  [
    "no rule within another",
    "@media (width: 1px) {\n  a {\n    & b {\n      top: 0;\n    }\n  }\n}",
    "@media (width:1px){a{b{top:0}}}",
  ],
])("A sheet loses in its packing %s", (_what, sheet, packed) => {
  expect(packedSheet(sheet)).toBe(packed);
});
