/** The file of `@modelcontextprotocol/server-memory`: entities with their observations, and relations. */
import { assertNoneTwice, type ParsedLine } from "./atom-lines.ts";
import { idFor, notImported, type Reading } from "./import-item.ts";
import { atomsOf, type StatedRelation } from "./statement.ts";

/**
 * An entity becomes an atom: its name, its type as a tag too, and its observations; a relation becomes a link. One whose
 * other end is no entity of the file stays as text.
 *
 * @param source the name of the file, by which an entity is known again
 * @throws UsageError naming the line that is neither an entity nor a relation
 */
export function readServerMemory(lines: readonly ParsedLine[], source: string): Reading {
  const entities = lines.filter(({ value }) => value.type === "entity");
  assertNoneTwice(entities, "name");
  const names = new Set(entities.map((entity) => textOf(entity, "name")));
  const relations = new Map<string, StatedRelation[]>([...names].map((name) => [name, []]));
  const stray = new Map<string, string[]>([...names].map((name) => [name, []]));
  let strayLinks = 0;
  for (const line of lines) {
    if (line.value.type === "entity") continue;
    if (line.value.type !== "relation") throw notImported(line.where, "is neither an entity nor a relation");
    const [from, rel, to] = [textOf(line, "from"), textOf(line, "relationType"), textOf(line, "to")];
    const text = `${from} ${rel} ${to}`;
    const led = relations.get(from);
    if (led !== undefined && names.has(to)) {
      led.push({ rel, id: idFor(source, to), text });
      continue;
    }
    strayLinks++;
    const end = led === undefined ? to : from;
    stray.get(end)?.push(`- ${text}`);
  }
  const items = entities.flatMap((entity) => {
    const name = textOf(entity, "name");
    const type = textOf(entity, "entityType");
    const said = observationsOf(entity).map((observation) => `- ${observation}`);
    const first = type === "" ? name : `${name} (${type})`;
    return atomsOf({
      ...{ where: entity.where, id: idFor(source, name), title: name, source, tags: [type], facts: {}, times: {} },
      content: [first, ...said, ...(stray.get(name) ?? [])].join("\n"),
      relations: relations.get(name) ?? [],
    });
  });
  return { items, leftOut: [], strayLinks };
}

/** None where nothing is said of them. What is no text would become one that says nothing. */
function observationsOf({ where, value: { observations = [] } }: ParsedLine): string[] {
  if (Array.isArray(observations) && observations.every((each) => typeof each === "string")) return observations;
  throw notImported(where, 'has "observations" that are no list of texts');
}

function textOf({ where, value }: ParsedLine, field: string): string {
  const text = value[field];
  if (typeof text === "string") return text;
  throw notImported(where, `lacks "${field}"`);
}
