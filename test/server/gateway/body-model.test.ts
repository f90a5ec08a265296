import { assert, jsonValue, property, string } from "fast-check";
import { expect, test } from "vitest";
import { BodyFault, findModels, GEMINI_REPEATS, replaceModels, TOP_LEVEL } from "../../../server/gateway/body-model.ts";

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

test("Gemini's bodies are looked through where they repeat the model", () => {
  const body = Buffer.from(
    '{"requests":[{"model":"models/a","content":{"model":"no"}},{"model":"models/b"}],"model":"c"}',
  );
  const found = findModels(body, GEMINI_REPEATS);
  expect(found.map(({ value }) => value)).toEqual(["models/a", "models/b", "c"]);
  const renamed = replaceModels(body, found, (old) => `${old}!`).toString();
  expect(renamed).toBe(
    body.toString().replace("models/a", "models/a!").replace("models/b", "models/b!").replace('"c"', '"c!"'),
  );
});

test("only the model's bytes change, whatever stands around them", () => {
  assert(
    property(jsonValue(), jsonValue(), string(), string(), (before, after, model, other) => {
      const text = `{"a":${JSON.stringify(before)},\n "model" :  ${JSON.stringify(model)}, "z":${JSON.stringify(after)} }`;
      const found = findModels(Buffer.from(text), TOP_LEVEL);
      expect(found.map(({ value }) => value)).toEqual([model]);
      const replaced = replaceModels(Buffer.from(text), found, () => other).toString();
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

test("32 MiB of one string are scanned in no more time than parsing them takes", () => {
  const body = Buffer.from(`{"image":"${"a".repeat(32 << 20)}","model":"m"}`);
  const timed = (act: () => unknown) => {
    const start = performance.now();
    act();
    return performance.now() - start;
  };
  const rounds = Array.from({ length: 5 }, () => ({
    scanned: timed(() => expect(findModels(body, TOP_LEVEL)).toHaveLength(1)),
    parsed: timed(() => JSON.parse(body.toString())),
  }));
  const best = (of: "scanned" | "parsed") => Math.min(...rounds.map((round) => round[of]));
  expect(best("scanned")).toBeLessThan(2 * best("parsed"));
});
