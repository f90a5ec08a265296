import { expect, test } from "vitest";
import { boundaryOf, FormScan, modelPart } from "../../../../server/gateway/model/form-scan.ts";
import { type ModelSpan, replaceModels } from "../../../../server/gateway/model/model-scan.ts";
import { BodyFault } from "../../../../server/http/bodies/json-scanner.ts";
import { SLICE_STEPS } from "../../../../server/http/bodies/slices.ts";
import { Problem } from "../../../../server/http/problems/problem.ts";
import { threadCpuTimeOf } from "../../../env/cpu-time.ts";

const MODEL = 'Content-Disposition: form-data; name="model"\r\n\r\nfast';
const FILE =
  'Content-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n\0\xff\r\n--\n';
const form = (...parts: readonly string[]) =>
  Buffer.from(`${parts.map((part) => `--bound\r\n${part}\r\n`).join("")}--bound--\r\n`, "latin1");
function formModels(body: Buffer, boundary: string, steps = 1_000): readonly ModelSpan[] {
  const scan = new FormScan(body, boundary);
  while (!scan.run(steps));
  return scan.models;
}
const modelsOf = (body: Buffer) => formModels(body, "bound").map(({ value }) => value);

test.each([
  ["multipart/form-data; boundary=----formdata-undici-012345678901", "----formdata-undici-012345678901"],
  [
    "multipart/form-data; boundary=------------------------d74496d66958873e",
    "------------------------d74496d66958873e",
  ],
  ['multipart/form-data;boundary="a_b.c+d"', "a_b.c+d"],
  ["multipart/form-data;charset=UTF-8;boundary=spring", "spring"],
  ['multipart/form-data; boundary=b; charset="utf-8"', "b"],
  // Of each of these, parsers in use make another boundary.
  ['multipart/form-data; boundary="xboundary=y"', undefined],
  ['multipart/form-data; boundary="a,b"', undefined],
  ['multipart/form-data; boundary="a:b"', undefined],
  ['multipart/form-data; boundary="a/b?c"', undefined],
  ["multipart/form-data; boundary='b'", undefined],
  ["multipart/form-data; boundary=b'", undefined],
  ['multipart/form-data; boundary="b', undefined],
  ["multipart/form-data; BOUNDARY=b", undefined],
  ["Multipart/Form-Data; boundary=b", undefined],
  ["multipart/form-data;\tboundary=b", undefined],
  ["multipart/form-data", undefined],
  ["multipart/form-data; boundary=", undefined],
  ["multipart/form-data; boundary=a; boundary=b", undefined],
  ["multipart/form-data; boundary=a; charset=utf-16", undefined],
  ["multipart/form-data; boundary*=utf-8''a", undefined],
  ['multipart/form-data; boundary="a; charset=utf-8; b"', undefined],
  ["multipart/mixed; boundary=a", undefined],
  ["application/json", undefined],
  ["", undefined],
  [undefined, undefined],
])("b365: of the media type %s the boundary is %s", (type, boundary) => {
  if (boundary === undefined) expect(() => boundaryOf(type)).toThrow(Problem);
  else expect(boundaryOf(type)).toBe(boundary);
});

test.each([
  ["after a file", [FILE, MODEL], ["fast"]],
  ["before a file", [MODEL, FILE], ["fast"]],
  [
    "with a type, a length and a coding of its own",
    [
      'Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: 4\r\nContent-Transfer-Encoding: 8bit\r\n\r\nfast',
    ],
    ["fast"],
  ],
  ["in lower case", ['content-disposition: form-data; name="model"\r\n\r\ngpt-4o:x/y'], ["gpt-4o:x/y"]],
  [
    "without quotes, as .NET does",
    [
      "Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=model\r\n\r\nfast",
      "Content-Disposition: form-data; name=file; filename=a.mp3; filename*=utf-8''a.mp3\r\n\r\nx",
    ],
    ["fast"],
  ],
  ["nowhere", [FILE, 'Content-Disposition: form-data; name="timestamp_granularities[]"\r\n\r\nword'], []],
  [
    "nowhere, beside a filename in two spellings",
    [`Content-Disposition: form-data; name="image[]"; filename="\xc3\xa4.png"; filename*=UTF-8''%C3%A4.png\r\n\r\nx`],
    [],
  ],
  [
    "nowhere, beside a sound with its codec",
    [
      'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: audio/webm;codecs=opus\r\n\r\nx',
      'Content-Disposition: form-data; name="file"; filename="b"\r\nContent-Type: video/webm; codecs="vp8,opus"\r\n\r\nx',
    ],
    [],
  ],
  ["nowhere, in an empty form", [], []],
])("a form that names its model %s", (_where, parts, models) => {
  expect(modelsOf(form(...parts))).toEqual(models);
});

test("another model takes its part's place, and all other bytes stay", () => {
  const body = form(FILE, MODEL.replace("\r\n\r\n", "\r\nContent-Length: 4\r\n\r\n"), FILE);
  const renamed = replaceModels(body, formModels(body, "bound"), () => "real-fast", modelPart).whole();
  expect(renamed.equals(form(FILE, MODEL.replace("fast", "real-fast"), FILE))).toBe(true);
});

const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}\r\n\r\nslow`;

test.each<readonly [string, ...string[]]>([
  ["it twice", MODEL, disposition('name="model"')],
  ["it in another case", MODEL, disposition('name="Model"')],
  ["it within brackets", MODEL, disposition('name="model[]"')],
  ["it within another name", MODEL, disposition('name="extra_body[model]"')],
  ["it behind a dot", MODEL, disposition('name="options.model"')],
  ["it with a dot in it", MODEL, disposition('name="mo.del"')],
  ["a list of models", MODEL, disposition('name="models"')],
  ["what it falls back on", MODEL, disposition('name="fallbacks[]"')],
  ["a deployment", MODEL, disposition('name="deployment_id"')],
  ["tools that may run others", MODEL, disposition('name="tools"')],
  ["it with one quote", disposition('name="model')],
  ["it in single quotes", MODEL, disposition("name='model'")],
  ["it twice, once without quotes", MODEL, disposition("name=model")],
  ["it by an escape", disposition('name="mode\\l"')],
  ["it by a percent sign", disposition('name="%6dodel"')],
  ["it encoded", disposition("name*=utf-8''model")],
  ["it a second time in a head", MODEL, disposition('name="file"; name="model"')],
  ["it behind a semicolon of a filename", MODEL, disposition('name="file"; filename="a; name=model"')],
  ["it by a second disposition", `Content-Disposition: form-data; name="a"\r\n${disposition('name="model"')}`],
  ["it by a folded line", MODEL, 'Content-Disposition: form-data;\r\n name="model"\r\n\r\nslow'],
  ["it behind a bare line feed", 'Content-Disposition: form-data; name="a"\nX: y\r\n\r\nslow'],
  ["it as a file", disposition('name="model"; filename="a"')],
  ["it as a file by its encoded name", disposition("name=\"model\"; filename*=utf-8''a")],
  ["it in Base64", 'Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64\r\n\r\nc2xvdw=='],
  [
    "it in UTF-16",
    'Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\nslow',
  ],
  ["it with a space", disposition('name="model"').replace("slow", " slow")],
  ["it as nothing", disposition('name="model"').replace("slow", "")],
  ["it beyond a NUL", disposition('name="model"').replace("slow", "fast\0slow")],
  ["it at length", disposition('name="model"').replace("slow", "s".repeat(257))],
  [
    "what has parts of its own",
    MODEL,
    'Content-Disposition: form-data; name="a"\r\nContent-Type: multipart/mixed\r\n\r\nx',
  ],
  ["it behind a control character", disposition('name="model"').replace(": ", ":\x0b")],
  ["it before a form feed", disposition('name="model"\x0c')],
  ["it behind a space without a break", disposition('name="model"').replace(": ", ":\xc2\xa0")],
  ["it behind a byte of Latin-1", disposition('name="model"').replace(": ", ":\xa0")],
  ["a file by a byte that is no UTF-8", MODEL, disposition('name="file"; filename="a\x85b"')],
  ["a file by a line end of Unicode", MODEL, disposition('name="file"; filename="a\xe2\x80\xa8b"')],
  ["a file by a control character", MODEL, disposition('name="file"; filename="a\0b"')],
  ["it with a greater length", 'Content-Disposition: form-data; name="model"\r\nContent-Length: 100\r\n\r\nslow'],
  ["what has a smaller length", MODEL, 'Content-Disposition: form-data; name="a"\r\nContent-Length: 0\r\n\r\nslow'],
  ["what has its length in octal", MODEL, 'Content-Disposition: form-data; name="a"\r\nContent-Length: 04\r\n\r\nslow'],
  ...[
    "text/plain; x=Content-Disposition: form-data; name=model",
    'text/plain; x="Content-Disposition: form-data"',
    "text/plain; name=model",
    'text/plain; x="a b"',
    "text/plain; x=\xc2\x85",
    "text/plain;",
    "text",
    " text/plain",
    "message/rfc822",
    "application/x-www-form-urlencoded",
    "Application/X-WWW-Form-URLencoded; charset=utf-8",
  ].map((type): readonly [string, string, string] => [
    `what has the type ${JSON.stringify(type)}`,
    MODEL,
    `Content-Type: ${type}\r\nContent-Disposition: form-data; name="a"\r\n\r\nx`,
  ]),
  ["what has a long name", MODEL, `Content-Disposition: form-data; name="${"a".repeat(257)}"\r\n\r\nx`],
  ["what has no name", MODEL, "Content-Type: text/plain\r\n\r\nx"],
  ["what has no head", MODEL, "x"],
  ["what has a long head", MODEL, `Content-Disposition: form-data; name="${"a".repeat(5_000)}"\r\n\r\nx`],
])("b366: a form that names %s is refused", (_what, ...parts) => {
  expect(() => formModels(form(...parts), "bound")).toThrow(BodyFault);
});

test.each([
  ["a preamble", (whole: string) => `x\r\n${whole}`],
  ["an epilogue", (whole: string) => `${whole}x`],
  ["no end", (whole: string) => whole.replace("--bound--\r\n", "")],
  ["half an end", (whole: string) => whole.replace("--bound--\r\n", "--bound-")],
  ["spaces behind a delimiter", (whole: string) => whole.replace("--bound\r\n", "--bound \r\n")],
  ["line feeds alone", (whole: string) => whole.replaceAll("\r\n", "\n")],
  ["a delimiter behind a bare line feed", (whole: string) => whole.replace("fast", "fast\n--bound\r\nslow")],
  ["a delimiter in a line", (whole: string) => whole.replace("fast", "fast--bound")],
  ["a part that begins in a line", (whole: string) => whole.replace("fast", `fast--bound\r\n${FILE}`)],
  ["a longer delimiter", (whole: string) => whole.replace("fast", "fast\r\n--bounds\r\n")],
  ["an end within", (whole: string) => whole.replace("fast", "fast\r\n--bound--\r\n")],
  ["nothing", () => ""],
])("a form with %s is refused", (_what, spoil) => {
  expect(() => formModels(Buffer.from(spoil(form(MODEL).toString())), "bound")).toThrow(BodyFault);
});

test.each<readonly [string, string]>([
  ['Content-Disposition: form-data; name="a"; filename="C:\\a;b=c.mp3"', "no backslash"],
  ['Content-Disposition: form-data; filename="a.mp3"; name="a"', 'name="..." first'],
  ['Content-Disposition: form-data; name="a"\r\nContent-Type: ', "or leave it out"],
  ['Content-Disposition: form-data; name="a"\r\nContent-Type: multipart/mixed', "Content-Type of a part"],
  ['Content-Disposition: form-data; name="a"\r\nContent-Length: 5', "Content-Length of a part"],
  ['Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64', "send its bytes as they are"],
  ['Content-Disposition: form-data; name="a"\r\nX-Other: 1', "leave out an empty header, and any other"],
  ["Content-Type: text/plain", "Write the Content-Disposition of a part once"],
])("the refusal of a part with %j says what to change", (head, says) => {
  expect(() => formModels(form(MODEL, `${head}\r\n\r\nx`), "bound")).toThrow(says);
});

test("a form of too many parts is refused", () => {
  const part = 'Content-Disposition: form-data; name="a"\r\n\r\nx';
  expect(() => formModels(form(...Array<string>(1_001).fill(part)), "bound")).toThrow("more than 1000 parts");
});

test("a form is the same wherever its search stops and goes on", () => {
  const body = form(FILE, "Content-Disposition: form-data; name=a\r\n\r\n\r\n--boun", MODEL, FILE);
  const found = formModels(body, "bound", 1_000_000);
  expect(found.map(({ value }) => value)).toEqual(["fast"]);
  for (let steps = 0.25; steps < 20; steps += 0.25) expect(formModels(body, "bound", steps)).toEqual(found);
});

const named = (filename: string) => `Content-Disposition: form-data; name="a"; filename="${filename}"\r\n\r\nx`;

test.each<readonly [string, readonly string[]]>([
  ["dashes", [FILE + "-".repeat(4 << 20)]],
  ["line ends", [FILE + "\r\n".repeat(2 << 20)]],
  ["beginnings of delimiters", [FILE + "\r\n--boun".repeat(1 << 19)]],
  ["parts", Array<string>(990).fill(named("a".repeat(4_000)))],
])("a large form of %s holds others up for no slice: none goes through more than its share", (_what, parts) => {
  const body = form(...parts, MODEL);
  const scan = new FormScan(body, "bound");
  let slices = 1;
  for (; !scan.run(SLICE_STEPS); slices += 1);
  const share = body.length / (4 * SLICE_STEPS);
  expect(slices).toBeGreaterThan(share - 1);
  expect(slices).toBeLessThan(2 * share + 2);
});

/** What the processor takes for it, in milliseconds: of many times, as some systems count in steps of several. */
function timeOf(body: Buffer): number {
  return threadCpuTimeOf(() => {
    for (let times = 0; times < 10; times++) formModels(body, "bound");
  });
}

test.each<readonly [string, number, (length: number) => string]>([
  ["names of dots", 64, (length) => disposition(`name="${"a.".repeat(length / 2)}"`)],
  ["filenames of semicolons", 1_000, (length) => named(";".repeat(length))],
  ["filenames of equals signs", 1_000, (length) => named("=".repeat(length))],
  ["encoded filenames", 1_000, (length) => disposition(`name="a"; filename*=${"'".repeat(length)}`)],
])("%s that are four times as long take no more than in proportion", (_what, length, part) => {
  const of = (times: number) => form(...Array<string>(900).fill(part(times * length)), MODEL);
  // What goes through a head once for each of its characters takes 16 times as long.
  expect(timeOf(of(4))).toBeLessThan(6 * timeOf(of(1)));
});
