import { createSocket } from 'node:dgram';
import { answeredZone } from './names.ts';

/**
 * A name server that answers 127.0.0.1 for all names of one zone, and does not answer for other names (RFC 1035,
 * section 4).
 */
const port = Number(process.argv[2]);
const questionAt = 12;
const typeA = 1;
const socket = createSocket('udp4');

socket.on('message', (query, { port: asker }) => {
  const { name, end } = readName(query);
  if (!name.endsWith(answeredZone)) return;
  const hasAddress = query.readUInt16BE(end) === typeA;
  const head = Buffer.from(query.subarray(0, end + 4));
  head.writeUInt16BE(0x81_80, 2);
  head.writeUInt16BE(hasAddress ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  const address = Buffer.from([0xc0, questionAt, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  socket.send(hasAddress ? Buffer.concat([head, address]) : head, asker, '127.0.0.1');
});
socket.bind(port, '127.0.0.1', () => process.send?.('ready'));

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = questionAt;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}
