import { SCOPES, type Scope } from "../../../../domain/access/scopes.ts";
import { isKeyId } from "../../../../domain/key/stored/key-id.ts";
import { isStorableText } from "../../../../domain/storable-text.ts";
import { KEY_TRAITS, type KeyTrait } from "../../../../store/keys/search/key-criteria.ts";
import { LISTED_STATES, type ListedState } from "../../../../store/keys/search/key-lists.ts";
import { KEY_ORDERS, type KeyOrder, type KeyPosition } from "../../../../store/keys/search/key-orders.ts";
import { problem } from "../../../http/problems/problem.ts";
import { queryText } from "../../query-text.ts";

/** Query for the list of keys, as in the URL of its page. */
export type KeyListFilters = {
  readonly text: string;
  readonly state: ListedState | undefined;
  readonly scope: Scope | undefined;
  readonly trait: KeyTrait | undefined;
  /** Name of a model that keys may call at a gateway. */
  readonly model: string;
  /** Name or id of a gateway or a library. */
  readonly bound: string;
  readonly team: string;
  readonly order: KeyOrder;
  readonly after: KeyPosition | undefined;
  /** Position that this page ends before, for going back. */
  readonly before: KeyPosition | undefined;
};

const MAX_CURSOR_LENGTH = 600;
/** Seconds since the epoch of the year 0 and of the year 10000: bounds of the times in RFC 3339. */
const [FIRST_SECOND, SECOND_AFTER_ALL] = [-62_167_219_200, 253_402_300_800];

/** Reads the query of a URL. Ignores invalid values, since a person may have typed them. */
export function readListQuery(query: Readonly<Record<string, unknown>>): KeyListFilters {
  const { q, state, scope, trait, model, bound, team, order, after, before } = query;
  const known = KEY_ORDERS.find((one) => one === order) ?? "name";
  return {
    text: queryText(q),
    state: LISTED_STATES.find((one) => one === state),
    scope: SCOPES.find((one) => one === scope),
    trait: KEY_TRAITS.find((one) => one === trait),
    model: queryText(model),
    bound: queryText(bound),
    team: queryText(team),
    order: known,
    after: positionIn(after, known),
    before: positionIn(before, known),
  };
}

function positionIn(text: unknown, order: KeyOrder): KeyPosition | undefined {
  return typeof text === "string" && text !== "" ? readPosition(text, order) : undefined;
}

/** Returns the URL of a list or of its export, from a position on if the filters have one. */
export function listUrl(
  filters: KeyListFilters,
  path: "/dashboard/keys" | "/dashboard/keys/found.csv" = "/dashboard/keys",
): string {
  const { text, state, scope, trait, model, bound, team, order, after, before } = filters;
  const given = new URLSearchParams();
  if (text !== "") given.set("q", text);
  if (state !== undefined) given.set("state", state);
  if (scope !== undefined) given.set("scope", scope);
  if (trait !== undefined) given.set("trait", trait);
  if (model !== "") given.set("model", model);
  if (bound !== "") given.set("bound", bound);
  if (team !== "") given.set("team", team);
  if (order !== "name") given.set("order", order);
  if (after !== undefined) given.set("after", writePosition(after));
  if (before !== undefined) given.set("before", writePosition(before));
  const search = given.toString();
  return `${path}${search === "" ? "" : `?${search}`}`;
}

function writePosition({ place, id }: KeyPosition): string {
  return Buffer.from(JSON.stringify([place, id])).toString("base64url");
}

/** Reads a position that {@link writePosition} wrote. @throws Problem `invalid_request` for any other text */
function readPosition(text: string, order: KeyOrder): KeyPosition {
  const [place, id] = text.length > MAX_CURSOR_LENGTH ? [] : partsOf(text);
  const isValue = order === "name" ? isStorableText : isTime;
  if (typeof place === "string" && isValue(place) && typeof id === "string" && isKeyId(id)) {
    return { place, id };
  }
  throw problem("invalid_request", "This address of a page of the list is broken: begin at the first page.");
}

function isTime(text: string): boolean {
  if (!/^-?(?:Infinity|\d{1,12}(?:\.\d{1,6})?)$/.test(text)) return false;
  const seconds = Number(text);
  return !Number.isFinite(seconds) || (seconds >= FIRST_SECOND && seconds < SECOND_AFTER_ALL);
}

function partsOf(text: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
