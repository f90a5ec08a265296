/**
 * Finds the model's name in a form (RFC 7578) without taking the form apart: what is not replaced stays byte by byte, and
 * a form that two parsers could read in two ways is refused (spec §4). Clients use less than the RFC lets them.
 */
import { BodyFault } from "../../http/bodies/json-scanner.ts";
import { foldedName, TOP_LEVEL } from "./model-places.ts";
import type { ModelSpan } from "./model-scan.ts";

/** With one boundary, and nothing else that says how it is read. */
const FORM = /^multipart\/form-data[ \t]*;[ \t]*boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'+.-]{1,70}))[ \t]*$/i;
const IN_UTF8 = /;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*(?=;|$)/i;

/** Some of which take several nanoseconds each. */
const BYTES_IN_A_STEP = 4;
/** No API takes as many. */
const MAX_PARTS = 1_000;
/** Of a part's head, in bytes. */
const MAX_HEAD = 4 * 1024;

/** What a part's head may have, and how: a name or a coding that parsers make different things of is none. */
const HEADERS: ReadonlyMap<string, RegExp> = new Map([
  [
    "content-disposition",
    // .NET writes names without quotes. One with a semicolon and an equals sign may hold a name of its own.
    /^form-data; ?name=("?)([\w.[\]-]+)\1(; ?filename=(?:"(?:[^"\\;]*|[^"\\=]*)"|[\w.-]+))?(; ?filename\*=[\w!#$&+.^`|~'%-]+)?$/,
  ],
  ["content-type", /^(?!multipart|message)[^\\]*$/i],
  ["content-length", /^\d+$/],
  ["content-transfer-encoding", /^(?:7bit|8bit|binary)$/i],
]);
/** Of the model's own part, whose text is the same in each of these. */
const PLAIN_TEXT = /^text\/plain(?:[ \t]*;[ \t]*charset="?(?:utf-8|us-ascii|iso-8859-1)"?)?$/i;
const MODEL_NAME = /^[!-~]{1,256}$/;

/** What stands between the parts of a form; undefined for a media type that is none, or does not say it plainly. */
export function boundaryOf(contentType = ""): string | undefined {
  const [, quoted, plain] = FORM.exec(contentType.replace(IN_UTF8, "")) ?? [];
  return quoted ?? plain;
}

/** A search for the model that a form names. Its `models` are the places at the end, heads included: one at most. */
export class FormScan {
  readonly models: ModelSpan[] = [];
  readonly #body: Buffer;
  readonly #delimiter: Buffer;
  /** Behind the last delimiter, and up to where the next one was looked for. */
  #from: number;
  #searched: number;
  #parts = 0;

  constructor(body: Buffer, boundary: string) {
    this.#body = body;
    this.#delimiter = Buffer.from(`--${boundary}`);
    this.#from = this.#delimiter.length;
    this.#searched = this.#from;
    if (!body.subarray(0, this.#from).equals(this.#delimiter)) throw UNFRAMED;
  }

  /**
   * Goes on for about so many steps.
   *
   * @returns whether the form's end was reached
   * @throws BodyFault where the form is not framed as every parser takes it, names a model twice, or in another way
   */
  run(steps: number): boolean {
    const stop = this.#searched + steps * BYTES_IN_A_STEP;
    while (!isEnd(this.#body, this.#from)) {
      const window = this.#body.subarray(this.#searched, stop + this.#delimiter.length);
      const found = window.indexOf(this.#delimiter);
      if (found !== -1) this.#endPart(this.#searched + found);
      else if (this.#searched + window.length === this.#body.length) throw UNFRAMED;
      else {
        this.#searched = Math.max(this.#searched, stop);
        return false;
      }
    }
    return true;
  }

  /** @param next where a delimiter is */
  #endPart(next: number): void {
    const start = this.#from + LINE_END.length;
    const end = next - LINE_END.length;
    // Whatever looks like a delimiter is one, with its line to itself: some parsers take less for one than others.
    if (end < start || !isLineEnd(this.#body, this.#from) || !isLineEnd(this.#body, end)) throw UNFRAMED;
    if (++this.#parts > MAX_PARTS) throw new BodyFault(`The form has more than ${MAX_PARTS} parts.`);
    const value = modelIn(this.#body, start, end);
    if (value !== undefined) this.models.push({ value, start, end });
    if (this.models.length > 1) throw new BodyFault("The form has the part `model` twice.");
    this.#searched = this.#from = next + this.#delimiter.length;
  }
}

/** A part that names a model, as {@link FormScan} gives its place. */
export function modelPart(model: string): string {
  return `Content-Disposition: form-data; name="model"\r\n\r\n${model}`;
}

/** What a part says where it is the model's. */
function modelIn(body: Buffer, start: number, end: number): string | undefined {
  const part = body.subarray(start, end);
  const length = part.subarray(0, MAX_HEAD).indexOf("\r\n\r\n");
  if (length === -1) throw UNREAD_HEAD;
  const head = headOf(part.toString("latin1", 0, length));
  const [, , name = "", file, encodedFile] = head.get("content-disposition") ?? [];
  if (name === "") throw UNREAD_HEAD;
  if (name !== "model") {
    if ([name, ...name.split(/[.[\]]/)].some((each) => TOP_LEVEL.entries.has(foldedName(each)))) throw OTHER_NAME;
    return undefined;
  }
  const value = part.toString("latin1", length + 2 * LINE_END.length, length + MAX_HEAD);
  const type = head.get("content-type")?.[0] ?? "text/plain";
  if (file !== undefined || encodedFile !== undefined || !PLAIN_TEXT.test(type) || !MODEL_NAME.test(value)) {
    throw NOT_TEXT;
  }
  return value;
}

/** By their names in lower case. */
function headOf(text: string): ReadonlyMap<string, RegExpExecArray> {
  const head = new Map<string, RegExpExecArray>();
  for (const line of text.split("\r\n")) {
    const [, spelt = "", value = ""] = /^([A-Za-z-]+):(.*)$/.exec(line) ?? [];
    const name = spelt.toLowerCase();
    const read = HEADERS.get(name)?.exec(value.trim());
    if (!read || head.has(name)) throw UNREAD_HEAD;
    head.set(name, read);
  }
  return head;
}

const LINE_END = "\r\n";

function isLineEnd(body: Buffer, at: number): boolean {
  return body.toString("latin1", at, at + LINE_END.length) === LINE_END;
}

function isEnd(body: Buffer, at: number): boolean {
  return body.length - at <= 4 && ["--", "--\r\n"].includes(body.toString("latin1", at));
}

const UNFRAMED = new BodyFault(
  "The form is not framed by its boundary: each part stands between lines that end in CR and LF, and nothing else does.",
);
const UNREAD_HEAD = new BodyFault(
  'A part of the form has no head as it is read here: Content-Disposition: form-data; name="..." once, and besides a filename, Content-Type, Content-Length and a Content-Transfer-Encoding that changes nothing.',
);
const OTHER_NAME = new BodyFault(
  "A part of the form names a model beside `model`, or what goes with one: leave it out.",
);
const NOT_TEXT = new BodyFault("The form's `model` is not a model's name as plain text.");
