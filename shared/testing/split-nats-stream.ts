/** One operation of the client protocol of NATS. */
export type NatsOperation = {
  /** Name of the operation, in capitals. */
  readonly verb: string;
  readonly args: readonly string[];
  /** The bytes of the operation as received. */
  readonly bytes: Buffer;
  /** Headers and payload of a message; empty for other operations. */
  readonly payload: Buffer;
};

const withPayload: ReadonlySet<string> = new Set(['PUB', 'HPUB', 'MSG', 'HMSG']);
const lineEnd = '\r\n';

/** Splits one direction of a connection into operations. The returned function takes each received chunk, in order. */
export function splitNatsStream(onOperation: (operation: NatsOperation) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf(lineEnd);
      if (end < 0) return;
      const [first = '', ...args] = rest.toString('latin1', 0, end).trim().split(/\s+/);
      const verb = first.toUpperCase();
      const from = end + lineEnd.length;
      const payloadBytes = withPayload.has(verb) ? Number(args.at(-1)) : undefined;
      const to = payloadBytes === undefined ? from : from + payloadBytes + lineEnd.length;
      if (rest.length < to) return;
      const payload = rest.subarray(from, from + (payloadBytes ?? 0));
      onOperation({ verb, args, bytes: rest.subarray(0, to), payload });
      rest = rest.subarray(to);
    }
  };
}
