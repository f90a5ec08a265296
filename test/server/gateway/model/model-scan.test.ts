import { assert, jsonValue, nat, property, string } from "fast-check";
import { expect, test } from "vitest";
import { GEMINI_REPEATS, type ModelMembers, TOP_LEVEL } from "../../../../server/gateway/model/model-members.ts";
import { ModelScan, type ModelSpan, replaceModels } from "../../../../server/gateway/model/model-scan.ts";
import { BodyFault } from "../../../../server/http/bodies/json-scanner.ts";
import { hostileBodies } from "../../../bench/hostile-bodies.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { expectFairSlices } from "../../http/bodies/fair-slices.ts";

function findModels(body: Buffer, members: ModelMembers, steps = 1_000): readonly ModelSpan[] {
  const scan = new ModelScan(body, members);
  while (!scan.run(steps));
  return scan.models;
}

const find = (text: string) => findModels(Buffer.from(text), TOP_LEVEL).map(({ value }) => value);

test.each([
  ['{"model":"a"}', ["a"]],
  ['  { "x" : [1, {"model":"no"}, "}"], "model" : "a" , "y":null }\n', ["a"]],
  ['{"x":"\\"model\\":\\"no\\"","model":"a\\u0062"}', ["ab"]],
  ['{"nested":{"model":"no"}}', []],
  ["{}", []],
  ['{"x":"\\\\","model":"a"}', ["a"]],
  ['{"x":-1.5e+3,"y":true,"model":"a"}', ["a"]],
])("the model of %s is %j", (text, models) => {
  expect(find(text)).toEqual(models);
});

test.each([
  ['{"model":"a","model":"b"}'],
  ['{"mod\\u0065l":"a"}'],
  ['{"model":"a","mod\\u0065l":"b"}'],
  ['{"model":"a","Model":"b"}'],
  ['{"MODEL":"b"}'],
  ['{"model":1}'],
  ['{"model":null}'],
  ['{"model":["a"]}'],
  ['[{"model":"a"}]'],
  ['{"model":"a"}{"model":"b"}'],
  ['{"model":"a"'],
  ['{"x":[}],"model":"a"}'],
  ['{"x":/* */1,"model":"a"}'],
  ["{'model':'a'}"],
  ['{model:"a"}'],
  ['\uFEFF{"model":"a"}'],
  ['{"x":NaN,"model":"a"}'],
  [`{"x":${"[".repeat(300)}${"]".repeat(300)},"model":"a"}`],
  ["model=a"],
  [""],
])("b36: the body %s is refused, as two parsers could read two models", (text) => {
  expect(() => find(text)).toThrow(BodyFault);
});

test("a body that is not UTF-8 where the model stands is refused", () => {
  const body = Buffer.concat([Buffer.from('{"model":"a'), Buffer.from([0xff]), Buffer.from('"}')]);
  expect(() => findModels(body, TOP_LEVEL)).toThrow(BodyFault);
});

test("Gemini's bodies are inspected where they repeat the model", () => {
  const body = Buffer.from(
    '{"requests":[{"model":"models/a","content":{"model":"no"}},{"model":"models/b"}],"model":"c"}',
  );
  const found = findModels(body, GEMINI_REPEATS);
  expect(found.map(({ value }) => value)).toEqual(["models/a", "models/b", "c"]);
  const renamed = replaceModels(body, found, (old) => `${old}!`)
    .whole()
    .toString();
  expect(renamed).toBe(
    body.toString().replace("models/a", "models/a!").replace("models/b", "models/b!").replace('"c"', '"c!"'),
  );
});

test("b83: of a large body nothing is copied for another name", () => {
  const body = Buffer.from(`{"model":"a","input":"${"x".repeat(1 << 20)}"}`);
  const { parts } = replaceModels(body, findModels(body, TOP_LEVEL), () => "b");
  expect(parts.some((part) => part.length > 1 << 20 && part.buffer === body.buffer)).toBe(true);
});

test("only the model's bytes change, whatever stands around them", () => {
  assert(
    property(jsonValue(), jsonValue(), string(), string(), (before, after, model, other) => {
      const text = `{"a":${JSON.stringify(before)},\n "model" :  ${JSON.stringify(model)}, "z":${JSON.stringify(after)} }`;
      const found = findModels(Buffer.from(text), TOP_LEVEL);
      expect(found.map(({ value }) => value)).toEqual([model]);
      const replaced = replaceModels(Buffer.from(text), found, () => other)
        .whole()
        .toString();
      expect(replaced).toBe(
        `{"a":${JSON.stringify(before)},\n "model" :  ${JSON.stringify(other)}, "z":${JSON.stringify(after)} }`,
      );
    }),
  );
});

test("what is found is what JSON.parse finds, and text is refused that it refuses to see as an object", () => {
  assert(
    property(jsonValue(), string(), (value, noise) => {
      const text = JSON.stringify(value) + noise;
      let found: string[];
      try {
        found = find(text);
      } catch {
        return;
      }
      const parsed: unknown = JSON.parse(text);
      expect(parsed).toBeTypeOf("object");
      expect(found).toEqual(typeof parsed === "object" && parsed !== null && "model" in parsed ? [parsed.model] : []);
    }),
  );
});

test("b83: a model is found in slices of any size", () => {
  assert(
    property(jsonValue(), string(), nat(40), (value, model, steps) => {
      const body = Buffer.from(JSON.stringify({ value, requests: [value, { value, model }], model }));
      expect(findModels(body, GEMINI_REPEATS, steps + 1).map((found) => found.value)).toEqual([model, model]);
    }),
  );
});

/** Nightly as large as for the scanner itself: what is looked for in it is bounded in number. */
const HOSTILE = hostileBodies((NIGHTLY ? 8 : 2) << 20);

test.each([...HOSTILE])("b83: %s: the search for a model holds the thread for no slice", async (_, body) => {
  for (const members of [TOP_LEVEL, GEMINI_REPEATS]) {
    await expectFairSlices(body, () => new ModelScan(body, members));
  }
});
