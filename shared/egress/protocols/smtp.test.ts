import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions } from 'smtp-server';
import { onTestFinished, expect, test } from 'vitest';
import { createTestAuthority } from '../../testing/certificates.ts';
import { createEgressRules } from '../egress-rules.ts';
import type { OutboundRequest } from '../outbound.ts';
import type { Sender, SendResult } from '../sender.ts';
import { createProtocolSenders } from './protocol-sender.ts';
import { smtpProtocol } from './smtp.ts';
import type { Mail } from './smtp.ts';

// Tested with smtp-server, an SMTP server in the test's process.

type Received = {
  readonly from: string;
  readonly to: readonly string[];
  readonly secure: boolean;
  readonly text: string;
};

type MailServer = { readonly port: number; readonly received: Received[] };

const authority = createTestAuthority();
const trusted = async (): Promise<SecureContext> => createSecureContext({ ca: (await authority).ca });

async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: Received[] = [];
  const server = new SMTPServer({
    ...(await (await authority).server()),
    authOptional: true,
    disableReverseLookup: true,
    ...options,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const text = Buffer.concat(chunks).toString('utf8');
        received.push({ from, to: rcptTo.map(({ address }) => address), secure: session.secure, text });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received };
}

function senderFor(trustedBy?: SecureContext): Sender {
  const http = { send: () => Promise.reject(new Error('this is no HTTP')), close: async () => undefined };
  const limits = { connectTimeoutMs: 30_000, totalTimeoutMs: 30_000 };
  const sender = createProtocolSenders({
    protocols: [smtpProtocol],
    rules: createEgressRules(['127.0.0.0/8']),
    limits,
    resolveName: async () => [{ address: '127.0.0.1', family: 4 }],
    ...(trustedBy === undefined ? {} : { trusted: trustedBy }),
  })(http);
  onTestFinished(() => sender.close());
  return sender;
}

const message: Mail = {
  from: 'Shop <shop@example.com>',
  to: ['Ann <ann@example.com>', 'team@example.com'],
  subject: 'Größe\r\nBcc: everyone@example.com',
  text: 'Hello\n.\nworld',
  messageId: '<e1@example.com>',
  date: '2026-11-27T10:00:00.000Z',
};

const request = (url: string, login?: string, mail: Partial<Mail> = {}): OutboundRequest => ({
  method: 'POST',
  url,
  headers: login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
  body: JSON.stringify({ ...message, ...mail }),
});
const answer = (status: number, body: unknown): SendResult => ({
  kind: 'answered',
  answer: { status, headers: {}, body: JSON.stringify(body) },
});
const login: Pick<SMTPServerOptions, 'authOptional' | 'onAuth'> = {
  authOptional: false,
  onAuth: ({ username, password }, _session, done) =>
    username === 'user' && password === 'pass:word' ? done(null, { user: 'user' }) : done(new Error('no such login')),
};
const refusing = (responseCode: number, only?: string): SMTPServerOptions => ({
  onRcptTo: ({ address }, _session, done) =>
    only === undefined || address === only ? done(Object.assign(new Error('5.1.1 no'), { responseCode })) : done(),
});

test('smtp: STARTTLS, login, and a message whose texts cannot add a header or end the message early', async () => {
  const server = await startMailServer(login);
  const sender = senderFor(await trusted());
  const url = `smtp+starttls://localhost:${server.port}`;
  for (const html of [undefined, '<p>Hello</p>']) {
    const sent = await sender.send(request(url, 'user:pass:word', html === undefined ? {} : { html }));
    expect(sent).toEqual(answer(200, { accepted: 2, rejected: 0 }));
  }
  const [plain, both] = server.received;
  expect(plain).toMatchObject({ from: 'shop@example.com', to: ['ann@example.com', 'team@example.com'], secure: true });
  expect(plain?.text).not.toMatch(/^bcc:/im);
  expect(plain?.text).toMatch(/^Message-ID: <e1@example\.com>\r$/m);
  expect(plain?.text).toMatch(/^Date: Fri, 27 Nov 2026 10:00:00 \+0000\r$/m);
  expect(plain?.text).toContain('Hello\r\n.\r\nworld');
  expect(both?.text).toContain('multipart/alternative');
});

test('smtp: TLS from the start, to a server that proves its name', async () => {
  const server = await startMailServer({ secure: true });
  const sender = senderFor(await trusted());
  expect(await sender.send(request(`smtps://other.example:${server.port}`))).toMatchObject({ failure: 'connection' });
  expect(server.received).toEqual([]);
  expect(await sender.send(request(`smtps://localhost:${server.port}`))).toMatchObject({ answer: { status: 200 } });
});

test('smtp: where STARTTLS is missing or not trusted, neither login nor message is sent', async () => {
  for (const [options, outcome] of [
    [
      { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] },
      { kind: 'answered', answer: { status: 401 } },
    ],
    [{ disabledCommands: [] }, { kind: 'failed', failure: 'connection', permanent: false }],
  ] as const) {
    let logins = 0;
    const onAuth: SMTPServerOptions['onAuth'] = (_auth, _session, done) => {
      logins += 1;
      done(null, { user: 'user' });
    };
    const server = await startMailServer({
      ...options,
      disabledCommands: [...options.disabledCommands],
      onAuth,
      allowInsecureAuth: true,
    });
    const result = await senderFor().send(request(`smtp+starttls://localhost:${server.port}`, 'user:pass'));
    expect(result).toMatchObject(outcome);
    expect([logins, server.received]).toEqual([0, []]);
  }
});

test('smtp: a refused login gives an answer with status 401', async () => {
  const server = await startMailServer({ ...login, allowInsecureAuth: true });
  const result = await senderFor().send(request(`smtp://127.0.0.1:${server.port}`, 'user:wrong'));
  expect(result).toEqual(answer(401, { code: 535 }));
});

test.each([
  [550, 422],
  [552, 413],
  [451, 503],
  [530, 401],
])(
  'smtp: a recipient refused with %i gives an answer with status %i, and the next message is sent',
  async (code, status) => {
    const server = await startMailServer(refusing(code, 'bad@example.com'));
    const sender = senderFor();
    const url = `smtp://127.0.0.1:${server.port}`;
    const refused = await sender.send(request(url, undefined, { to: ['bad@example.com'] }));
    expect(refused).toEqual(answer(status, { code, enhanced: '5.1.1' }));
    expect(await sender.send(request(url))).toEqual(answer(200, { accepted: 2, rejected: 0 }));
  },
);

test('smtp: a message that is accepted for one of two recipients counts as sent', async () => {
  const server = await startMailServer(refusing(550, 'ann@example.com'));
  const result = await senderFor().send(request(`smtp://127.0.0.1:${server.port}`));
  expect(result).toEqual(answer(200, { accepted: 1, rejected: 1 }));
  expect(server.received.map(({ to }) => to)).toEqual([['team@example.com']]);
});
