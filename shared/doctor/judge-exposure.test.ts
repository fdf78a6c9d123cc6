import { expect, test } from 'vitest';
import type { LogExposure } from '../nats/monitor/read-exposure.ts';
import { judgeExposure } from './judge-exposure.ts';

const locked: LogExposure = {
  name: 'nats-1',
  accounts: ['$G', '$SYS', 'SLUICE', 'SLUICE_GATEWAY'],
  clusterPort: { isReachable: true, address: 'nats-1:6222', needsPassword: true, needsCertificate: true },
};
const reachable = (needsPassword: boolean, needsCertificate: boolean): LogExposure => ({
  ...locked,
  clusterPort: { isReachable: true, address: 'nats-1:6222', needsPassword, needsCertificate },
});

test('doctor: a cluster port that requires password and certificate, or that is unreachable, is not reported as a problem', () => {
  const hidden: LogExposure = { ...locked, clusterPort: { isReachable: false, address: 'nats-1:6222' } };
  for (const exposure of [locked, hidden]) {
    expect(judgeExposure(exposure).map(({ about, level }) => [about, level])).toEqual([
      ['accounts of nats-1', 'ok'],
      ['cluster port of nats-1', 'ok'],
    ]);
  }
  expect(judgeExposure({ ...locked, clusterPort: undefined })).toHaveLength(1);
});

test.each([
  ['neither password nor certificate', reachable(false, false), 'fail', /lets every server join/],
  ['no password', reachable(false, true), 'warn', /needs no password/],
  ['no certificate', reachable(true, false), 'warn', /needs no certificate/],
] as const)('doctor: a cluster port that needs %s is named', (_, exposure, level, detail) => {
  expect(judgeExposure(exposure)[1]).toMatchObject({ level, detail: expect.stringMatching(detail) as string });
});

test('doctor: a warning says if services share one account', () => {
  for (const accounts of [
    ['$G', '$SYS'],
    ['$G', '$SYS', 'SLUICE'],
  ]) {
    expect(judgeExposure({ ...locked, accounts })[0]).toMatchObject({
      level: 'warn',
      detail: expect.stringContaining('share one account') as string,
    });
  }
});
