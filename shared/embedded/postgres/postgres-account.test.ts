import { expect, test } from 'vitest';

import { parsePasswd, pickAccount } from './postgres-account.ts';

const passwd = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
# a comment
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`;

test('postgres account: postgres is preferred, then an account without rights', () => {
  expect(pickAccount(parsePasswd(passwd))).toEqual({ name: 'nobody', uid: 65_534, gid: 65_534 });
  const withPostgres = `${passwd}postgres:x:101:104::/var/lib/postgresql:/bin/bash\n`;
  expect(pickAccount(parsePasswd(withPostgres))).toEqual({ name: 'postgres', uid: 101, gid: 104 });
});

test('postgres account: an account that is root under another name is not used', () => {
  expect(pickAccount(parsePasswd('postgres:x:0:0::/:/bin/sh\n'))).toBeUndefined();
});
