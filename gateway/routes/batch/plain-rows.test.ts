import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TrackHeads, endHead } from '../../../shared/contracts/events/envelope.ts';
import { partitionOf, partitionOfText, partitionSeed } from '../../../shared/contracts/events/partition.ts';
import { isPlaceholder } from '../../../shared/contracts/events/placeholder-identifier.ts';
import { BodyScan, scanBody } from '../../payload/scan-body.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';

const scan = new BodyScan();
const start = '{"v":1,"account":"acc","source":"src","at":5';

/** The only row of a batch; fails the test if the row is not plain. */
function plainRow(row: object) {
  const body = Buffer.from(JSON.stringify({ token: 't', events: [row] }));
  expect(scanBody(scan, body, 1)).toBeUndefined();
  const [first] = scan.rows;
  if (first?.isPlain !== true) throw new Error('the row is not plain');
  return { row: first.plain, body };
}

const id = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => !/["\\\p{Cc}\p{Cs}]/u.test(text) && !isPlaceholder(text));

test('plain rows: the head of a row read as plain equals the head made from its parsed fields', () => {
  fc.assert(
    fc.property(fc.array(id, { minLength: 1 }), fc.option(fc.nat(100), { nil: undefined }), (ids, bot) => {
      const heads = new TrackHeads(start, textCharactersMax.distinctId);
      for (const distinctId of ids) {
        const { row, body } = plainRow({ event: 'a', distinctId });
        expect(Buffer.from(heads.of(row, body, bot)).toString()).toBe(
          endHead(start, { kind: 'track', id: distinctId, bot }),
        );
      }
    }),
  );
});

test('plain rows: the same text decides the partition of a row, whether the row is read as plain or parsed', () => {
  const identity = fc.record({ userId: id, externalId: id, distinctId: id }, { requiredKeys: ['distinctId'] });
  fc.assert(
    fc.property(identity, (texts) => {
      const { row, body } = plainRow({ event: 'a', ...texts });
      const found = partitionOfText(partitionSeed('acc'), body, row.ownStart, row.ownEnd, 64);
      expect(found).toBe(partitionOf('acc', texts, 64));
    }),
  );
});

test('plain rows: an e-mail address decides the partition only if the row has no other identifier', () => {
  const event = { event: 'a', distinctId: 'd', email: 'Ada@Example.com' };
  expect(plainRow(event).row.email).toBe('Ada@Example.com');
  expect(plainRow({ ...event, externalId: 'x' }).row.email).toBeUndefined();
});

test('plain rows: a row with a placeholder as identifier is parsed, so that a real identifier decides its partition', () => {
  for (const fields of [{ userId: 'undefined', externalId: 'x' }, { externalId: '0' }, { email: 'null' }]) {
    const body = Buffer.from(JSON.stringify({ token: 't', events: [{ event: 'a', distinctId: 'd', ...fields }] }));
    const scan = new BodyScan();
    expect(scanBody(scan, body, 1)).toBeUndefined();
    expect(scan.rows[0]?.isPlain).toBe(false);
  }
});
