/** Pattern that every id of a key matches: the database is asked for no other text. */
const KEY_ID = /^key_[a-z2-7]{1,32}$/;

export function isKeyId(text: string): boolean {
  return KEY_ID.test(text);
}
