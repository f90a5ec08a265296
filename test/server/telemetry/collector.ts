import { startUpstream, type Upstream } from "../gateway/upstream.ts";

/** A span as a collector got it. Ids in hexadecimal digits, `parent` empty for none. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string;
  readonly traceState: string;
  readonly name: string;
  /** 2 a server's, 3 a client's. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly failed: boolean;
};

/** A collector on loopback that takes OTLP over HTTP, in protobuf. */
export async function startCollector(): Promise<Upstream & { spans(): Span[]; resources(): Span["attributes"][] }> {
  const upstream = await startUpstream((response) => response.end());
  const batches = () =>
    upstream.received.filter(({ url }) => url === "/v1/traces").flatMap(({ body }) => parts(fieldsOf(body), 1));
  return Object.assign(upstream, {
    spans: () => batches().flatMap((batch) => parts(batch, 2).flatMap((scope) => parts(scope, 2).map(spanOf))),
    resources: () => batches().flatMap((batch) => parts(batch, 1).map((resource) => attributesOf(parts(resource, 1)))),
  });
}

type Field = { readonly number: number; readonly value: Buffer | bigint };

/** A message's fields, by the wire format alone. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    const type = tag & 7;
    fields.push({ number, value: type === 0 ? varint() : take(type === 1 ? 8 : type === 5 ? 4 : Number(varint())) });
  }
  return fields;
}

function values(fields: readonly Field[], number: number): Buffer[] {
  return fields.flatMap(({ number: of, value }) => (of === number && Buffer.isBuffer(value) ? [value] : []));
}

function parts(fields: readonly Field[], number: number): Field[][] {
  return values(fields, number).map(fieldsOf);
}

const text = (fields: readonly Field[], number: number): string => values(fields, number)[0]?.toString() ?? "";
const hex = (fields: readonly Field[], number: number): string => values(fields, number)[0]?.toString("hex") ?? "";
const whole = (fields: readonly Field[], number: number): number =>
  Number(fields.find(({ number: of, value }) => of === number && typeof value === "bigint")?.value ?? 0);

function attributesOf(pairs: readonly Field[][]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value = []] = parts(pair, 2);
      return [text(pair, 1), values(value, 1).length > 0 ? text(value, 1) : whole(value, 3)];
    }),
  );
}

function spanOf(fields: Field[]): Span {
  return {
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    traceState: text(fields, 3),
    parent: hex(fields, 4),
    name: text(fields, 5),
    kind: whole(fields, 6),
    attributes: attributesOf(parts(fields, 9)),
    failed: parts(fields, 15).some((status) => whole(status, 3) === 2),
  };
}
