/** Filters for what a PostgreSQL server sends (see `startTcpProxy`), which change its notifications and nothing else. */

/**
 * Takes them out, as a pooler in transaction mode does.
 *
 * @param isLost asked of each one
 */
export function dropNotifications(isLost: () => boolean = () => true): (bytes: Buffer) => Buffer {
  return filterMessages((message, isNotification) => (isNotification && isLost() ? [] : [message]));
}

/** Has them arrive with what the server says next. */
export function delayNotifications(): (bytes: Buffer) => Buffer {
  let held: Buffer[] = [];
  return filterMessages((message, isNotification) => {
    if (isNotification) {
      held.push(message);
      return [];
    }
    const passed = [...held, message];
    held = [];
    return passed;
  });
}

/** Sends each three times, once with nonsense in it at once, twice after the next one's. */
export function repeatNotifications(): (bytes: Buffer) => Buffer {
  let held: Buffer[] = [];
  return filterMessages((message, isNotification) => {
    if (!isNotification) return [message];
    const sent = [withPayload(message, '{"seq":999999999}'), ...held];
    held = [message, message];
    return sent;
  });
}

/** @param pass what becomes of one message of the server; a notification is a NotificationResponse ('A') */
function filterMessages(pass: (message: Buffer, isNotification: boolean) => Buffer[]): (bytes: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const passed: Buffer[] = [];
    while (rest.length >= 5) {
      const end = 1 + rest.readUInt32BE(1);
      if (rest.length < end) break;
      passed.push(...pass(rest.subarray(0, end), rest[0] === "A".charCodeAt(0)));
      rest = rest.subarray(end);
    }
    return Buffer.concat(passed);
  };
}

/** A NotificationResponse: its kind, its length, a process id, the channel and the payload, each of these two ended by a zero. */
function withPayload(message: Buffer, payload: string): Buffer {
  const channelEnd = message.indexOf(0, 9) + 1;
  const changed = Buffer.concat([message.subarray(0, channelEnd), Buffer.from(`${payload}\0`)]);
  changed.writeUInt32BE(changed.length - 1, 1);
  return changed;
}
