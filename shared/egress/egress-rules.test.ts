import { describe, expect, test } from 'vitest';
import { defineEnv } from '../runtime/env.ts';
import { createEgressRules, egressEnv, readEgressRanges, readRanges } from './egress-rules.ts';

const rules = createEgressRules([]);

describe('egress rules', () => {
  test.each(['93.184.216.34', '8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('%s: is allowed', (address) => {
    expect(rules.allows(address, 443)).toBe(true);
  });

  const refused = [
    '127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 100.100.100.200',
    '168.63.129.16 224.0.0.1 255.255.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1',
    '::1 :: fe80::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 2002:7f00:1:: 64:ff9b::7f00:1',
    '::7f00:1 ::a9fe:a9fe ::fffe:7f00:1 64:ff9b:1::7f00:1 100::1 100:0:0:1::1 fec0::1 4000::1 8000::1',
    '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 ::ffff:168.63.129.16 ::127.0.0.1 2001:0:7f00:1::',
    'localhost 127.0.0.1.example.com undefined',
  ];
  test.each(refused.flatMap((line) => line.split(' ')).concat(''))('%s: is refused', (address) => {
    expect(rules.allows(address, 443)).toBe(false);
  });

  test('ports: only 80, 443 and unprivileged ports are allowed', () => {
    expect([22, 25, 80, 443, 1023, 1024, 8080].filter((port) => rules.allows('8.8.8.8', port))).toEqual([
      80, 443, 1024, 8080,
    ]);
  });

  test.each([-1, 0, 65_536, 99_999, Number.NaN])('port %s: does not exist and is refused', (port) => {
    expect(createEgressRules(['127.0.0.0/8']).allows('127.0.0.1', port)).toBe(false);
    expect(rules.allows('8.8.8.8', port)).toBe(false);
  });

  test('ports of a protocol: are allowed at public addresses, and not at private ones', () => {
    const ports = [25, 587];
    expect([22, 25, 587].map((port) => createEgressRules([]).allows('8.8.8.8', port, ports))).toEqual([
      false,
      true,
      true,
    ]);
    for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1']) {
      expect(createEgressRules([]).allows(address, 25, ports)).toBe(false);
    }
    expect(createEgressRules([], ['8.8.8.0/24']).allows('8.8.8.8', 25, ports)).toBe(false);
  });

  test('allowed ranges: allow every port of their addresses, and no other address', () => {
    const local = createEgressRules(['127.0.0.0/8', '::1/128']);
    expect(local.allows('127.0.0.1', 22)).toBe(true);
    expect(local.allows('::ffff:127.0.0.1', 80)).toBe(true);
    expect(local.allows('::1', 80)).toBe(true);
    expect(local.allows('10.0.0.1', 80)).toBe(false);
  });

  test('ranges with a port: allow or deny that port only', () => {
    const sink = createEgressRules(['127.0.0.1/32:8090', '[fd00::/8]:8090', '10.0.0.0/8'], ['10.0.0.5/32:5432']);
    expect(sink.allows('127.0.0.1', 8090)).toBe(true);
    expect(sink.allows('::ffff:127.0.0.1', 8090)).toBe(true);
    expect(sink.allows('fd00::5', 8090)).toBe(true);
    expect(sink.allows('10.0.0.5', 8090)).toBe(true);
    for (const [address, port] of [
      ['127.0.0.1', 80],
      ['127.0.0.1', 8091],
      ['127.0.0.2', 8090],
      ['fd00::5', 443],
      ['10.0.0.5', 5432],
    ] as const) {
      expect({ address, port, isAllowed: sink.allows(address, port) }).toEqual({ address, port, isAllowed: false });
    }
  });

  test('denied ranges: are denied, whatever is allowed, even public addresses', () => {
    const rest = createEgressRules(['10.0.0.0/8', '::1/128'], ['10.89.0.0/16', '8.8.8.0/24', '::/0']);
    expect(rest.allows('10.1.2.3', 8081)).toBe(true);
    for (const address of ['10.89.0.2', '::ffff:10.89.0.2', '8.8.8.8', '::1']) {
      expect({ address, isAllowed: rest.allows(address, 8081) }).toEqual({ address, isAllowed: false });
    }
  });

  test('lists: an error in a list names the variable', () => {
    const { read } = defineEnv(egressEnv);
    expect(read({})).toEqual({ EGRESS_ALLOW: '', EGRESS_DENY: '' });
    expect(() => read({ EGRESS_ALLOW: '10.0.0.0/8', EGRESS_DENY: 'postgres' })).toThrow(
      'EGRESS_DENY must hold CIDR ranges, such as 10.0.0.0/8, or with a port 10.0.0.5/32:8080 or [fd00::5/128]:8080',
    );
    const ranges = readEgressRanges({ EGRESS_ALLOW: '10.0.0.0/8', EGRESS_DENY: '10.1.0.0/16, ::/0' });
    expect(ranges).toEqual({ allowed: ['10.0.0.0/8'], denied: ['10.1.0.0/16', '::/0'] });
  });

  test.each([
    ['', []],
    ['127.0.0.0/8, ::1/128', ['127.0.0.0/8', '::1/128']],
    ['127.0.0.1/32:8090, [::1/128]:8090', ['127.0.0.1/32:8090', '[::1/128]:8090']],
    ['127.0.0.1', undefined],
    ['127.0.0.1:8090', undefined],
    ['127.0.0.1/32:', undefined],
    ['127.0.0.1/32:0', undefined],
    ['127.0.0.1/32:65536', undefined],
    ['127.0.0.1/32:80x', undefined],
    ['[127.0.0.1/32]:80', undefined],
    ['[::1/128]', undefined],
    ['[::1]:80', undefined],
    ['x/8', undefined],
    ['10.0.0.0/33', undefined],
  ])('readRanges %s: %o', (text, ranges) => {
    expect(readRanges(text)).toEqual(ranges);
  });
});
