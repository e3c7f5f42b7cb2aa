#include <libpq-fe.h>

// Swift does not see character constants.
static const int cairn_diag_sqlstate = PG_DIAG_SQLSTATE;
static const int cairn_diag_message_primary = PG_DIAG_MESSAGE_PRIMARY;
