import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { Account } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { Card, Page } from '../design/page.tsx';
import { IdentityForm } from './identity-form.tsx';
import { SettingForm } from './setting-form.tsx';

/** Settings of the account that are not versioned. */
export function AccountPage(): ReactElement {
  const query = useRead<Account>('/account', { isEdited: true });
  const mayChange = useScope('account:update');
  const account = query.data;
  return (
    <Page title="Account" lead={account?.name}>
      <Waiting query={query} />
      {account === undefined ? null : (
        <>
          <Card title="Identity">
            <p>How visitors are identified. Changes take effect immediately, without publishing.</p>
            <IdentityForm identity={account.identity} mayChange={mayChange} />
          </Card>
          <Card title="Publishing">
            <SettingForm
              account={account}
              field="requiresApproval"
              label="Versions need the approval of a second user or key before they go live"
              mayChange={mayChange}
            />
          </Card>
          <Card title="Personal data">
            <SettingForm
              account={account}
              field="masksPersonalData"
              label="Mask values of visitors and events for keys without the scope pii:read"
              mayChange={mayChange}
            />
          </Card>
        </>
      )}
    </Page>
  );
}
