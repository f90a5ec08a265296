import type { KeptObjects } from "../../../domain/access/gateway-operations.ts";
import { type IdPlaces, IdScanner } from "./id-scanner.ts";
import type { KeptReference } from "./reference-scan.ts";

const NEWLINE = 0x0a;
/** Objects of an answer that are noted at most: items beyond them cannot be named by their ids. */
const MOST_NOTED = 1_000;

type Made = NonNullable<KeptObjects["made"]>;

/** Reads which objects an answer brings, from its bytes before they go on. */
export class AnswerIds {
  readonly #isEvents: boolean;
  readonly #scanner: IdScanner;
  readonly #noted = new Set<string>();
  #fresh: KeptReference[] = [];

  /** @param isEvents true if the answer is an event stream; else it is JSON */
  constructor(made: Made, isEvents: boolean) {
    this.#isEvents = isEvents;
    this.#scanner = new IdScanner(isEvents ? placesInEvents(made) : placesIn(made), (kind, id) => {
      const key = `${kind} ${id}`;
      if (this.#noted.has(key) || this.#noted.size >= MOST_NOTED) return;
      this.#noted.add(key);
      this.#fresh.push({ kind, id });
    });
  }

  /** True if the last piece ended within an id. */
  get isInId(): boolean {
    return this.#scanner.isInId;
  }

  /** Takes the next piece; returns the objects that it is the first to name. */
  push(bytes: Buffer): readonly KeptReference[] {
    this.#fresh = [];
    if (this.#isEvents) this.#pushLines(bytes);
    else this.#scanner.scan(bytes);
    return this.#fresh;
  }

  #pushLines(bytes: Buffer): void {
    let at = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, at)) {
      this.#scanner.scan(bytes.subarray(at, end));
      this.#scanner.reset();
      at = end + 1;
    }
    this.#scanner.scan(bytes.subarray(at));
  }
}

function placesIn({ object, items }: Made): IdPlaces {
  return { ...(object !== undefined && { id: object }), ...(items !== undefined && { [items]: ITEMS }) };
}

/** Places in an event of a response: the response itself, and an item of it. */
function placesInEvents(made: Made): IdPlaces {
  return { [made.object ?? "response"]: placesIn(made), item: ITEM };
}

const ITEM: IdPlaces = { id: "item" };
const ITEMS: IdPlaces = { "*": ITEM };
