/**
 * Finds the model's name in a form (RFC 7578) without splitting the form: what is not replaced stays byte by byte. A
 * form is refused that two parsers could read in two ways, or that names what an upstream keeps (spec §4). Clients use
 * less than the RFC allows.
 */
import { isUtf8 } from "node:buffer";
import { FILE_MEMBERS } from "../../../domain/access/gateway-operations.ts";
import { BodyFault } from "../../http/bodies/json-scanner.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { foldedName, OF_FORM } from "./model-members.ts";
import type { ModelSpan } from "./model-scan.ts";

/**
 * Pattern of a form's media type as clients write it, with one boundary and nothing else that says how it is read. Of
 * other characters in a boundary, or another case, parsers make boundaries of their own.
 */
const FORM = /^multipart\/form-data; ?boundary=("?)([\w.+-]{1,70})\1$/;
const IN_UTF8 = /; ?charset=(?:utf-8|"utf-8")(?=;|$)/i;

/** Bytes that count as one step: some bytes take several nanoseconds each. */
const BYTES_IN_A_STEP = 4;
/** Parts of a form at most: no API takes as many. */
const MAX_PARTS = 1_000;
/** Bytes of a part's head at most. */
const MAX_HEAD = 4 * 1024;

/** Pattern of a line of a part's head: no control character, and nothing that some parsers take for a line's end. */
const HEAD_LINE = /^([A-Za-z-]+): ?([^\p{Cc}\p{Zl}\p{Zp}]+)$/u;
/**
 * Headers that a part may have, each with the pattern of its value. A name or a coding that parsers read in different
 * ways does not match.
 */
const HEADERS: ReadonlyMap<string, RegExp> = new Map([
  [
    "content-disposition",
    // .NET writes names without quotes. One with a semicolon and an equals sign may hold a name of its own.
    /^form-data; ?name=("?)([\w.[\]-]{1,256})\1(; ?filename=(?:"(?:[^"\\;]*|[^"\\=]*)"|[\w.-]+))?(; ?filename\*=[\w!#$&+.^`|~'%-]+)?$/,
  ],
  [
    "content-type",
    // Parts within a part, and what may be read as a name or as fields of its own, do not match.
    /^(?!multipart|message|.*(?:urlencoded|name))[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=("?)[\w.,+-]+\1)*$/i,
  ],
  ["content-length", /^\d+$/],
  ["content-transfer-encoding", /^(?:7bit|8bit|binary)$/i],
]);
/** Pattern of the content type of the model's own part, whose text is the same in each of these charsets. */
const PLAIN_TEXT = /^text\/plain(?:; ?charset="?(?:utf-8|us-ascii|iso-8859-1)"?)?$/i;
/** Pattern of a nested name, folded but for its dots and brackets, of which a piece names a model. */
const OTHER_MODEL = patternOfPieces([...OF_FORM.entries.keys()]);
/** Pattern of such a name of which a piece names what an upstream keeps. */
const KEPT_OBJECT = patternOfPieces(Object.keys(FILE_MEMBERS).map(foldedName));
const MODEL_NAME = /^[!-~]{1,256}$/;

/** Returns the refusal of a body that its content type does not plainly call a form; undefined for a form. */
export function refusalOfNoForm(contentType: string | undefined): Problem | undefined {
  return statedBoundary(contentType) === undefined ? NO_FORM : undefined;
}

function statedBoundary(contentType = ""): string | undefined {
  return FORM.exec(contentType.replace(IN_UTF8, ""))?.[2];
}

/**
 * Returns the text that stands between the parts of a form.
 *
 * @throws Problem 415 for a media type that is no form, or does not say its boundary plainly
 */
export function boundaryOf(contentType: string | undefined): string {
  const boundary = statedBoundary(contentType);
  if (boundary === undefined) throw NO_FORM;
  return boundary;
}

const NO_FORM = problem(
  "unsupported_media_type",
  "The body must be a form: send it with Content-Type: multipart/form-data and its boundary, and no other parameter.",
);

/** Part of a form, without its head. */
export type FormPart = { readonly name: string; readonly isFile: boolean; readonly value: Buffer };

/**
 * Search for the model that a form names. At the end, `models` holds the part that names it, head included: one at
 * most; and `parts` holds all.
 */
export class FormScan {
  readonly models: ModelSpan[] = [];
  readonly parts: FormPart[] = [];
  readonly #body: Buffer;
  readonly #delimiter: Buffer;
  /** Positions behind the last delimiter, and up to which the next one was searched for. */
  #from: number;
  #searched: number;

  constructor(body: Buffer, boundary: string) {
    this.#body = body;
    this.#delimiter = Buffer.from(`--${boundary}`);
    this.#from = this.#delimiter.length;
    this.#searched = this.#from;
    if (!body.subarray(0, this.#from).equals(this.#delimiter)) throw UNFRAMED;
  }

  /**
   * Goes on for about `steps` steps.
   *
   * @returns true once the form's end was reached
   * @throws BodyFault if the form is not framed as every parser takes it, names a model twice or in another way, or names
   *   what an upstream keeps
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

  /** @param next position of the next delimiter */
  #endPart(next: number): void {
    const start = this.#from + LINE_END.length;
    const end = next - LINE_END.length;
    // Whatever looks like a delimiter is one, with its line to itself: some parsers take less for one than others.
    if (end < start || !isLineEnd(this.#body, this.#from) || !isLineEnd(this.#body, end)) throw UNFRAMED;
    if (this.parts.length === MAX_PARTS) throw new BodyFault(`The form has more than ${MAX_PARTS} parts.`);
    const { model, ...part } = readPart(this.#body.subarray(start, end));
    this.parts.push(part);
    if (model !== undefined) this.models.push({ value: model, start, end });
    if (this.models.length > 1) throw new BodyFault("The form has the part `model` twice.");
    this.#searched = this.#from = next + this.#delimiter.length;
  }
}

/**
 * Returns a part that names a model, to stand where {@link FormScan} found the part: also for the same model, as each
 * parser reads this head and no other.
 */
export function modelPart(model: string): string {
  return `Content-Disposition: form-data; name="model"\r\n\r\n${model}`;
}

/** Reads a part; `model` is the model that it names, and undefined if it is not the model's part. */
function readPart(part: Buffer): FormPart & { readonly model: string | undefined } {
  const length = part.subarray(0, MAX_HEAD).indexOf("\r\n\r\n");
  if (length === -1) throw UNREAD_HEAD;
  const head = headOf(part.subarray(0, length));
  const from = length + 2 * LINE_END.length;
  const stated = head.get("content-length")?.[0] ?? String(part.length - from);
  if (stated !== String(part.length - from)) throw unreadHeader("content-length");
  const [, , name = "", file, encodedFile] = head.get("content-disposition") ?? [];
  if (name === "") throw unreadHeader("content-disposition");
  const isFile = file !== undefined || encodedFile !== undefined;
  const read = { name, isFile, value: part.subarray(from) };
  if (name !== "model") {
    const spellings = [foldedName(name), name.toLowerCase().replace(/[_-]/g, "")];
    if (spellings.some((each) => OTHER_MODEL.test(each))) throw OTHER_NAME;
    if (spellings.some((each) => KEPT_OBJECT.test(each))) throw NO_FILE;
    return { ...read, model: undefined };
  }
  const model = part.toString("latin1", from, length + MAX_HEAD);
  const type = head.get("content-type")?.[0] ?? "text/plain";
  if (isFile || !PLAIN_TEXT.test(type) || !MODEL_NAME.test(model)) throw NOT_TEXT;
  return { ...read, model };
}

function patternOfPieces(names: readonly string[]): RegExp {
  return new RegExp(`(?:^|[.[\\]])(?:${names.join("|")})(?:$|[.[\\]])`);
}

/** Returns the headers of a part, matched by their patterns, by their names in lower case. */
function headOf(bytes: Buffer): ReadonlyMap<string, RegExpExecArray> {
  if (!isUtf8(bytes)) throw UNREAD_HEAD;
  const head = new Map<string, RegExpExecArray>();
  for (const line of bytes.toString().split(LINE_END)) {
    const [, spelt = "", value = ""] = HEAD_LINE.exec(line) ?? [];
    const name = spelt.toLowerCase();
    const read = HEADERS.get(name)?.exec(value);
    if (!read || head.has(name)) throw unreadHeader(name);
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
  "A part of the form has the headers Content-Disposition, Content-Type, Content-Length and Content-Transfer-Encoding at most, in UTF-8, each once and in a line that ends in CR and LF: leave out an empty header, and any other.",
);
/** Refusals of the headers of a part, by the name in lower case. */
const UNREAD_HEADERS: ReadonlyMap<string, BodyFault> = new Map([
  [
    "content-disposition",
    new BodyFault(
      'Write the Content-Disposition of a part once, as form-data; name="..." first and then filename="...", where the filename has no backslash, and no semicolon beside an equals sign.',
    ),
  ],
  [
    "content-type",
    new BodyFault("Write the Content-Type of a part once, as one media type such as audio/mpeg, or leave it out."),
  ],
  ["content-length", new BodyFault("The Content-Length of a part is not that of its bytes: leave it out.")],
  [
    "content-transfer-encoding",
    new BodyFault("A part has another Content-Transfer-Encoding than binary: send its bytes as they are, without one."),
  ],
]);

function unreadHeader(name: string): BodyFault {
  return UNREAD_HEADERS.get(name) ?? UNREAD_HEAD;
}
const OTHER_NAME = new BodyFault(
  "A part of the form names a model beside `model`, or what goes with one: leave it out.",
);
const NO_FILE = new BodyFault(
  "A part of the form names a file or a vector store that the provider keeps: send the file itself in the form.",
);
const NOT_TEXT = new BodyFault("The form's `model` is not a model's name as plain text.");
