/** The wire format of protobuf, as far as the few fields of Envoy's question and its answer take it. */

/** Fault of bytes that are no message. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** Bytes of the longest varint. */
const MAX_VARINT = 10;
/** Greatest number of a field, and of bytes, that is read. */
const MAX_NUMBER = 2 ** 32;

/** The fields of a message, one after the other. */
export class MessageFields {
  /** Number of the field. */
  number = 0;
  /** True if the field holds bytes: a message, a text, or bytes. */
  #hasBytes = false;
  #from: number;
  #to: number;
  readonly #bytes: Buffer;
  readonly #end: number;

  /**
   * @param from first byte of the message
   * @param end byte behind its last one
   */
  constructor(bytes: Buffer, from = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#end = end;
    this.#from = from;
    this.#to = from;
  }

  /**
   * Goes on to the next field; false behind the last one.
   *
   * @throws MalformedMessage if the bytes are no message
   */
  next(): boolean {
    if (this.#to === this.#end) return false;
    const tag = this.#varint();
    this.number = Math.floor(tag / 8);
    if (this.number === 0) throw new MalformedMessage("a field has the number 0");
    const type = tag % 8;
    this.#hasBytes = type === BYTES;
    if (type === BYTES) this.#take(this.#varint());
    else if (type === VARINT) this.#varint();
    else if (type === FIXED64) this.#take(8);
    else if (type === FIXED32) this.#take(4);
    else throw new MalformedMessage(`a field is of the type ${type}`);
    return true;
  }

  /** Returns the message that the field holds. @throws MalformedMessage if it holds a number */
  message(): MessageFields {
    this.#requireBytes();
    return new MessageFields(this.#bytes, this.#from, this.#to);
  }

  /**
   * Returns the field's bytes, each as one character: as Node gives the values of headers.
   *
   * @throws MalformedMessage if it holds a number
   */
  text(): string {
    this.#requireBytes();
    return this.#bytes.toString("latin1", this.#from, this.#to);
  }

  /** Returns the field's bytes, which the message shares. @throws MalformedMessage if it holds a number */
  bytes(): Buffer {
    this.#requireBytes();
    return this.#bytes.subarray(this.#from, this.#to);
  }

  #requireBytes(): void {
    if (!this.#hasBytes) throw new MalformedMessage("a field is of another type");
  }

  #take(length: number): void {
    this.#from = this.#to;
    this.#to += length;
    if (this.#to > this.#end) throw new MalformedMessage("a field is longer than its message");
  }

  /** Reads a number, which is capped: beyond any length or tag its value does not matter. */
  #varint(): number {
    let value = 0;
    let factor = 1;
    for (let read = 0; read < MAX_VARINT; read++) {
      if (this.#to === this.#end) break;
      const byte = this.#bytes[this.#to++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return Math.min(value, MAX_NUMBER);
      factor *= 128;
    }
    throw new MalformedMessage("a number has no end");
  }
}

/** A message, or a part of one: each of its characters is a byte. */
export type Bytes = string;

/** Returns a field that holds bytes: a message, or a text that is ASCII. */
export function bytesField(number: number, value: Bytes): Bytes {
  return varint(number * 8 + BYTES) + varint(value.length) + value;
}

/** Returns a field that holds a text. */
export function stringField(number: number, text: string): Bytes {
  return bytesField(number, /^[ -~]*$/.test(text) ? text : Buffer.from(text).toString("latin1"));
}

/** Returns a field that holds a number, a truth value or a member of an enumeration. */
export function numberField(number: number, value: number): Bytes {
  return varint(number * 8 + VARINT) + varint(value);
}

function varint(value: number): Bytes {
  let rest = value;
  let bytes = "";
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes += String.fromCharCode((rest % 128) + 0x80);
  return bytes + String.fromCharCode(rest);
}
