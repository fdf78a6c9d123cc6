import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createSecretBox, signingSecretContext } from '../../shared/contracts/config/secrets.ts';
import { createSecretOpener } from './source-secrets.ts';

const box = createSecretBox(randomBytes(32).toString('base64'));
const sealed = box.seal('signing-canary', signingSecretContext('a', 's'));

/** An opener with this box, and the lines that it logs. */
function rig(own: typeof box | undefined) {
  const lines: string[] = [];
  const open = createSecretOpener(own, pino({}, { write: (line: string) => void lines.push(line) }));
  return { open, lines };
}

test('source secrets: a secret is opened for its own source, and nothing about it is logged', () => {
  const { open, lines } = rig(box);
  expect(open(sealed, 'a', 's')).toBe('signing-canary');
  expect(lines).toEqual([]);
});

test('source secrets: a secret that cannot be opened is reported with its source, without the secret or its sealed text', () => {
  const other = createSecretBox(randomBytes(32).toString('base64'));
  for (const [own, accountId, sourceId] of [
    [undefined, 'a', 's'],
    [other, 'a', 's'],
    [box, 'b', 's'],
    [box, 'a', 't'],
  ] as const) {
    const { open, lines } = rig(own);
    expect(open(sealed, accountId, sourceId)).toBeUndefined();
    expect(lines).toHaveLength(1);
    const { level, time: _time, pid: _pid, hostname: _hostname, msg, ...fields } = JSON.parse(lines[0] ?? '');
    expect([level, fields]).toEqual([50, { accountId, sourceId, hasKey: own !== undefined }]);
    expect(msg).toContain('SOURCE_SECRETS_KEY');
  }
});
