import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { forwardedQuery } from "../query.ts";
import type { Cursor, ListFormat } from "./list-formats.ts";
import { type AnswerReading, answerObject, type JsonObject, type ReadAnswer, UNREADABLE } from "./whole-answer.ts";

/** Maximum number of an upstream's pages in a call. */
const MOST_PAGES = 100;

/**
 * Place where a client's list goes on: a page of the upstream's, and the object of it that is the next to be shown. The
 * object before may have been deleted by then.
 */
type Position = { readonly token: string | null; readonly from: string | null };

type ListDeps = {
  /** Returns those of the ids that are the team's at an upstream; undefined if the database does not say. */
  readonly findOwn: (upstream: UpstreamRecord, ids: readonly string[]) => Promise<ReadonlySet<string> | Problem>;
  /** Returns an object as clients are shown it. */
  readonly show: (object: JsonObject, id: string | undefined) => JsonObject;
  /** Records the owners of what objects say that they have made; returns the problem to answer if that fails. */
  readonly recordYields: (upstream: UpstreamRecord, objects: readonly JsonObject[]) => Promise<Problem | undefined>;
  /** Makes room for so many bytes more; returns the problem to answer if there is none. */
  readonly reserve: (bytes: number) => Problem | undefined;
  /** Seals a position for a client, who is not to see what an upstream's cursor says of others' objects. */
  readonly seal: (position: string) => string;
  /** Opens a sealed position; undefined if it is none of this list's. */
  readonly open: (sealed: string) => string | undefined;
};

/**
 * List of a team's objects out of an upstream's list of all. It goes through the upstream's pages until it has as many
 * as were asked for; the ids and cursors of others stay here.
 */
export class OwnedList implements AnswerReading {
  readonly #deps: ListDeps;
  readonly #format: ListFormat;
  readonly #limit: number;
  /** True if the query names the objects. */
  readonly #isNaming: boolean;
  readonly #passed: readonly (readonly [string, string])[];
  /** Objects behind which the client's own query begins: each is to be the team's. */
  readonly named: readonly string[];
  #cursor: Cursor | undefined;
  /** Object at which the next page begins; undefined for its first. */
  #from: string | undefined;
  #own: JsonObject[] = [];
  #pages = 0;

  /**
   * @param query query as it came
   * @throws Problem 400 for a query that is not read
   */
  constructor(deps: ListDeps, format: ListFormat, query: string) {
    this.#deps = deps;
    this.#format = format;
    const params = new URLSearchParams(forwardedQuery(query));
    for (const [name, instead] of Object.entries(format.refused)) {
      if (params.has(name)) throw problem("invalid_request", `\`${name}\` is not served: ${instead}.`);
    }
    // A client that names none may say so with an empty value.
    for (const name of format.naming ?? []) params.delete(name, "");
    this.#isNaming = format.naming?.some((name) => params.has(name)) === true;
    this.#limit = limitOf(params.get(format.limit), this.#isNaming ? { ...format, usual: format.most } : format);
    this.#passed = [...params].filter(([name]) => format.passed.has(name));
    this.named = format.after === undefined ? [] : params.getAll(format.after);
    const after = this.named.at(-1);
    if (after !== undefined) this.#cursor = { after };
    const page = format.page === undefined ? null : params.get(format.page);
    if (page !== null && page !== "") this.#begin(deps.open(page));
  }

  #begin(position: string | undefined): void {
    if (position === undefined) throw NO_PAGE;
    // Only #seal can have written it.
    const { token, from }: Position = JSON.parse(position);
    this.#cursor = token === null ? undefined : { token };
    this.#from = from ?? undefined;
  }

  /** Query by which the upstream is asked for the next page. */
  get query(): string {
    const { limit, most, after, page } = this.#format;
    const params = new URLSearchParams(this.#passed as [string, string][]);
    if (!this.#isNaming) params.set(limit, String(most));
    const cursor = this.#cursor;
    if (cursor !== undefined && "token" in cursor) params.set(page ?? "", cursor.token);
    else if (cursor !== undefined) params.set(after ?? "", cursor.after);
    return params.toString();
  }

  async take(upstream: UpstreamRecord, body: Buffer): Promise<ReadAnswer | Problem> {
    const answer = await answerObject(body);
    const objects = answer && this.#format.objectsOf(answer);
    // An upstream that lists more than it was asked for would have the database asked without a bound.
    if (answer === undefined || objects === undefined || objects.length > this.#format.most) return UNREADABLE;
    const ids = objects.flatMap((object) => this.#format.idOf(object) ?? []);
    const owned = await this.#deps.findOwn(upstream, ids);
    if (!("has" in owned)) return owned;
    const begin =
      this.#from === undefined ? 0 : objects.findIndex((object) => this.#format.idOf(object) === this.#from);
    const own = objects.slice(Math.max(0, begin)).filter((object) => this.#isOf(owned, object));
    this.#from = undefined;
    this.#pages++;
    const room = this.#limit - this.#own.length;
    const shown = own.slice(0, room);
    const refusal = await this.#deps.recordYields(upstream, shown);
    if (refusal !== undefined) return refusal;
    this.#own.push(...shown);
    const next = this.#format.nextOf(answer, ids.at(-1));
    const [left] = own.slice(room);
    if (left !== undefined) return this.#end(answer, this.#cursor, left);
    if (next === undefined) return this.#end(answer, undefined);
    if (own.length === room) return this.#end(answer, next);
    if (this.#pages < MOST_PAGES) {
      this.#cursor = next;
      const full = this.#deps.reserve(JSON.stringify(shown).length);
      if (full !== undefined) return full;
      return { query: this.query };
    }
    return this.#own.length === 0 ? TOO_FAR : this.#end(answer, next);
  }

  get #shown(): JsonObject[] {
    return this.#own.map((object) => this.#deps.show(object, this.#format.idOf(object)));
  }

  #isOf(owned: ReadonlySet<string>, object: JsonObject): boolean {
    const id = this.#format.idOf(object);
    return id !== undefined && owned.has(id);
  }

  /**
   * @param at where the upstream's list goes on; undefined at its beginning or its end
   * @param left object at which it goes on in the page that `at` leads to; undefined for the page's first
   */
  #end(answer: JsonObject, at: Cursor | undefined, left?: JsonObject): ReadAnswer {
    const last = this.#own.at(-1);
    const behind = last === undefined ? undefined : this.#format.idOf(last);
    let next: Cursor | undefined;
    if (at !== undefined || left !== undefined) {
      if (!this.#format.namesPages(answer)) next = behind === undefined ? undefined : { after: behind };
      else {
        const position: Position = {
          token: at !== undefined && "token" in at ? at.token : null,
          from: (left && this.#format.idOf(left)) ?? null,
        };
        next = { token: this.#deps.seal(JSON.stringify(position)) };
      }
    }
    return { body: Buffer.from(JSON.stringify(this.#format.write(this.#shown, next, answer))) };
  }
}

function limitOf(asked: string | null, { limit, most, usual }: ListFormat): number {
  if (asked === null) return usual;
  if (!/^[1-9]\d{0,5}$/.test(asked)) throw problem("invalid_request", `\`${limit}\` must be a number from 1 on.`);
  return Math.min(Number(asked), most);
}

const NO_PAGE = problem("invalid_request", "The page is none that this list has named: begin without one.");
const TOO_FAR = problem(
  "bad_gateway",
  "None of the first objects that the upstream lists is this team's: name one by its id, or give the team a credential of its own.",
);
