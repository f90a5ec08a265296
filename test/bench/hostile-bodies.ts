/** Bodies that are made to cost their reader: of about the given size, each of one shape to its end. */
export function hostileBodies(bytes: number): ReadonlyMap<string, Buffer> {
  const times = (text: string, size = bytes): string => text.repeat(Math.floor(size / text.length));
  const list = (text: string): string => `[${times(`${text},`)}${text}]`;
  const within = (text: string): string => `{"model":"m","x":${text}}`;
  const members = (of: (i: number) => string, length: number): string =>
    Array.from({ length: Math.floor(bytes / length) }, (_, i) => of(i)).join(",");
  const texts: Readonly<Record<string, string>> = {
    "one long string": within(`"${times("a")}"`),
    "escaped quotes": within(`"${times('\\"')}"`),
    "escaped backslashes": within(`"${times("\\\\")}"`),
    "far escaped quotes": within(`"${times(`${"a".repeat(64)}\\"`)}"`),
    "far escaped backslashes": within(`"${times(`${"\\".repeat(64)}\\"`)}"`),
    "an open string of backslashes": `{"model":"m","x":"${times("\\")}`,
    "an open string of quotes": `{"model":"m","x":"${times('\\"')}`,
    "white space": `{"model":${times(" ")}"m"}`,
    "one long number": within(times("1")),
    numbers: within(list("1")),
    strings: within(list('""')),
    "empty objects": within(list("{}")),
    depth: within(times("[")),
    "depth of objects": within(times('{"a":')),
    requests: `{"requests":${list('{"model":"x"}')}}`,
    "requests without a model": `{"requests":${list("{}")}}`,
    "many members": `{${members((i) => `"m${i.toString(36)}":1`, 11)}}`,
    "members that are nearly models": `{${members((i) => `"mo_${i.toString(36)}":1`, 13)}}`,
    "members of escapes": `{${members(() => '"\\u006d":1', 11)}}`,
    "members within": within(`{${members((i) => `"m${i.toString(36)}":1`, 11)}}`),
    "members outside of ASCII": `{${members(() => '"ö":1', 7)}}`,
    "members of one name": within(`{${members(() => '"a":1', 6)}}`),
    "a long name": `{"${times("m")}":1}`,
    "a long name of escapes": `{"${times("\\u006d")}":1}`,
    "a long model": `{"model":"${times("m")}"}`,
    "a long model of escapes": `{"model":"${times("\\u006d")}"}`,
    commas: within(`[${times(",")}]`),
    colons: within(times(":")),
  };
  return new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}
