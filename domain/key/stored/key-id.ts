/** What every id of a key looks like: nothing else is asked of the database. */
const KEY_ID = /^key_[a-z2-7]{1,32}$/;

export function isKeyId(text: string): boolean {
  return KEY_ID.test(text);
}
