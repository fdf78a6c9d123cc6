import type { Socket } from 'node:net';

/** A reply of RESP 2; the text of an error begins with its code. */
export type Reply = { readonly value: string } | { readonly error: string };

export type RespConnection = {
  /** Sends the commands in one pipeline. Rejects and closes the connection if not all of them are answered. */
  ask(commands: readonly (readonly string[])[]): Promise<readonly Reply[]>;
};

/** Entry ids and errors are shorter by far. */
const replyBytesMax = 4_096;

class ReplyError extends Error {
  readonly code = 'MALFORMED_REPLY';
  constructor() {
    super('reading a reply: it is unexpected, too long or not RESP 2');
  }
}

type Asked = {
  readonly count: number;
  readonly replies: Reply[];
  resolve(replies: readonly Reply[]): void;
  reject(error: Error): void;
};

/**
 * Reads the replies that AUTH, PING, SELECT and XADD have: simple strings, errors and bulk strings. Anything else, and a
 * reply to no command, closes the connection, because the next reply could not be assigned to its command.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export function createRespConnection(socket: Socket): RespConnection {
  let unread = '';
  let asked: Asked | undefined;
  const read = (): void => {
    for (let found = readReply(unread); found !== undefined; found = readReply(unread)) {
      unread = unread.slice(found.length);
      if (asked === undefined || asked.replies.push(found.reply) > asked.count) throw new ReplyError();
    }
    if (asked !== undefined && asked.replies.length < asked.count) return;
    if (unread !== '') throw new ReplyError();
    asked?.resolve(asked.replies);
    asked = undefined;
  };
  // One character a byte, as sizes count bytes.
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    unread += text;
    try {
      read();
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  socket.on('error', (error) => asked?.reject(error));
  socket.on('close', () => asked?.reject(new Error('the connection ended')));
  return {
    ask: (commands) =>
      new Promise((resolve, reject) => {
        asked = { count: commands.length, replies: [], resolve, reject };
        socket.write(commands.map(encode).join(''));
      }),
  };
}

function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Reads the first reply; undefined while it is incomplete. */
function readReply(text: string): { readonly reply: Reply; readonly length: number } | undefined {
  const lineEnd = text.indexOf('\r\n');
  if ((lineEnd === -1 ? text.length : lineEnd) > replyBytesMax) throw new ReplyError();
  if (lineEnd === -1) return undefined;
  const line = text.slice(1, lineEnd);
  const length = lineEnd + 2;
  if (text.startsWith('+')) return { reply: { value: line }, length };
  if (text.startsWith('-')) return { reply: { error: line }, length };
  if (!text.startsWith('$') || !/^\d{1,4}$/.test(line)) throw new ReplyError();
  const valueEnd = length + Number(line);
  if (text.length < valueEnd + 2) return undefined;
  if (!text.startsWith('\r\n', valueEnd)) throw new ReplyError();
  return { reply: { value: text.slice(length, valueEnd) }, length: valueEnd + 2 };
}
