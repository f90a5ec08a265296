import { randomBytes } from "node:crypto";
import type { KeptKind } from "../../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../../domain/access/key-record.ts";

/** Object that an upstream keeps, and what the model knows of it. */
export type Thing = {
  readonly id: string;
  readonly kind: KeptKind;
  readonly dialect: Dialect;
  /** Team for whose call the upstream made it. */
  readonly team: string;
  /** Number of the upstream that keeps it. */
  readonly place: number;
  /** Marks of all contents that it was made of. */
  marks: string;
  /** Content of a file, byte by byte. */
  content: string;
  /** Object in which it is. */
  readonly parent: Thing | undefined;
  /** Items of a response or a conversation, parts of an upload, files of a store, and what a batch has made. */
  inner: Thing[];
  isGone: boolean;
  /** True once an answer has brought its id to a client. */
  isShown: boolean;
  /** True for an item of a caller's own, which no body may name by its id alone. */
  readonly isInput: boolean;
  /** True for an item of an answer with a fault: it may have no owner. */
  readonly isDoubtful: boolean;
  /** True once its id was given to another team's object, too: it is no team's, within the seconds that an owner is known. */
  isGivenTwice: boolean;
};

/** Place in a list, as an answer named it. */
export type Page = { readonly team: string; readonly operation: string; readonly token: string };

/** Object that a call names, which is to be of one of the kinds; undefined for none that there is. */
export type Named = { readonly thing: Thing | undefined; readonly kinds: readonly KeptKind[] };

/** Objects that the lines of a file name, and what the lines ask for. */
export type Lines = { readonly named: readonly Named[]; readonly url: string };

const PREFIXES: Readonly<Partial<Record<`${Dialect} ${KeptKind}`, string>>> = {
  "openai response": "resp_",
  "openai conversation": "conv_",
  "openai item": "msg_",
  "openai upload": "upload_",
  "openai part": "part_",
  "openai batch": "batch_",
  "openai store": "vs_",
  "openai addition": "vsfb_",
  "anthropic batch": "msgbatch_",
  "gemini output": "batch-",
};
/** Pattern of a word that may be an id; most kinds of Gemini's, and all files of the others, look alike. */
const WORD = /[\w-]{12,}/g;
const MARK = /mark-(?:alpha|beta|gamma)-\d+/g;

/** All that the upstreams keep: the model of which team owns what. */
export class KeptWorld {
  readonly things = new Map<string, Thing>();
  readonly pages: Page[] = [];
  /** Lines of files that a batch may take, by the file's id. */
  readonly lines = new Map<string, Lines>();
  /** Ids that teams have written into files of their own, behind the team's name. */
  readonly written = new Set<string>();
  #marks = 0;

  /** Returns a text that one object's content has, and no other's. */
  mark(team: string): string {
    return `mark-${team}-${++this.#marks}`;
  }

  make(fields: Pick<Thing, "kind" | "dialect" | "team" | "place" | "marks"> & Partial<Thing>): Thing {
    const { dialect, kind } = fields;
    const prefix =
      dialect === "gemini" ? (PREFIXES[`gemini ${kind}`] ?? "") : (PREFIXES[`${dialect} ${kind}`] ?? "file_");
    const thing: Thing = {
      ...{ id: `${prefix}${randomBytes(10).toString("hex")}`, content: "", parent: undefined, inner: [] },
      ...{ isGone: false, isShown: false, isInput: false, isDoubtful: false, isGivenTwice: false, ...fields },
    };
    this.things.set(thing.id, thing);
    return thing;
  }

  /** Returns the objects whose ids stand in a text. */
  namedIn(text: string): Thing[] {
    return [...new Set(text.match(WORD))].flatMap((word) => this.things.get(word) ?? []);
  }

  /** Returns the marks that an upstream finds in a text, and in all that the text names there. */
  readAt(place: number, text: string): string {
    const named = this.namedIn(text).filter((thing) => thing.place === place && !thing.isGone);
    return marksIn(`${text} ${named.map(({ marks }) => marks).join(" ")}`);
  }

  /** Has an object go, with what is in it alone. */
  end(thing: Thing): void {
    thing.isGone = true;
    for (const one of this.things.values()) if (one.parent === thing) one.isGone = true;
  }

  clear(): void {
    this.things.clear();
    this.pages.length = 0;
    this.lines.clear();
    this.written.clear();
  }
}

export function marksIn(text: string): string {
  return [...new Set(text.match(MARK))].join(" ");
}
