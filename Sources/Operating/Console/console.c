// Each file is embedded by the compiler, which also builds this again when one has changed.
#include "console.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char css_base_css[] = {
#embed "files/css/base.css"
};
static const unsigned char css_chart_css[] = {
#embed "files/css/chart.css"
};
static const unsigned char css_content_css[] = {
#embed "files/css/content.css"
};
static const unsigned char css_controls_css[] = {
#embed "files/css/controls.css"
};
static const unsigned char css_layout_css[] = {
#embed "files/css/layout.css"
};
static const unsigned char favicon_svg[] = {
#embed "files/favicon.svg"
};
static const unsigned char index_html[] = {
#embed "files/index.html"
};
static const unsigned char js_api_js[] = {
#embed "files/js/api.js"
};
static const unsigned char js_components_chart_js[] = {
#embed "files/js/components/chart.js"
};
static const unsigned char js_components_command_js[] = {
#embed "files/js/components/command.js"
};
static const unsigned char js_components_dialog_js[] = {
#embed "files/js/components/dialog.js"
};
static const unsigned char js_components_form_js[] = {
#embed "files/js/components/form.js"
};
static const unsigned char js_components_history_list_js[] = {
#embed "files/js/components/history-list.js"
};
static const unsigned char js_components_life_js[] = {
#embed "files/js/components/life.js"
};
static const unsigned char js_components_message_list_js[] = {
#embed "files/js/components/message-list.js"
};
static const unsigned char js_components_notice_js[] = {
#embed "files/js/components/notice.js"
};
static const unsigned char js_components_pairs_js[] = {
#embed "files/js/components/pairs.js"
};
static const unsigned char js_components_table_js[] = {
#embed "files/js/components/table.js"
};
static const unsigned char js_components_totals_js[] = {
#embed "files/js/components/totals.js"
};
static const unsigned char js_components_trace_js[] = {
#embed "files/js/components/trace.js"
};
static const unsigned char js_ctl_js[] = {
#embed "files/js/ctl.js"
};
static const unsigned char js_dom_js[] = {
#embed "files/js/dom.js"
};
static const unsigned char js_figures_js[] = {
#embed "files/js/figures.js"
};
static const unsigned char js_format_js[] = {
#embed "files/js/format.js"
};
static const unsigned char js_glossary_js[] = {
#embed "files/js/glossary.js"
};
static const unsigned char js_main_js[] = {
#embed "files/js/main.js"
};
static const unsigned char js_operator_js[] = {
#embed "files/js/operator.js"
};
static const unsigned char js_outcome_js[] = {
#embed "files/js/outcome.js"
};
static const unsigned char js_pages_js[] = {
#embed "files/js/pages.js"
};
static const unsigned char js_pages_apns_add_js[] = {
#embed "files/js/pages/apns-add.js"
};
static const unsigned char js_pages_apns_js[] = {
#embed "files/js/pages/apns.js"
};
static const unsigned char js_pages_clock_js[] = {
#embed "files/js/pages/clock.js"
};
static const unsigned char js_pages_cluster_js[] = {
#embed "files/js/pages/cluster.js"
};
static const unsigned char js_pages_device_search_js[] = {
#embed "files/js/pages/device-search.js"
};
static const unsigned char js_pages_device_view_js[] = {
#embed "files/js/pages/device-view.js"
};
static const unsigned char js_pages_devices_js[] = {
#embed "files/js/pages/devices.js"
};
static const unsigned char js_pages_faults_js[] = {
#embed "files/js/pages/faults.js"
};
static const unsigned char js_pages_find_message_js[] = {
#embed "files/js/pages/find-message.js"
};
static const unsigned char js_pages_inbox_all_js[] = {
#embed "files/js/pages/inbox-all.js"
};
static const unsigned char js_pages_inbox_device_js[] = {
#embed "files/js/pages/inbox-device.js"
};
static const unsigned char js_pages_inbox_js[] = {
#embed "files/js/pages/inbox.js"
};
static const unsigned char js_pages_login_js[] = {
#embed "files/js/pages/login.js"
};
static const unsigned char js_pages_message_view_js[] = {
#embed "files/js/pages/message-view.js"
};
static const unsigned char js_pages_messages_js[] = {
#embed "files/js/pages/messages.js"
};
static const unsigned char js_pages_operations_js[] = {
#embed "files/js/pages/operations.js"
};
static const unsigned char js_pages_overview_js[] = {
#embed "files/js/pages/overview.js"
};
static const unsigned char js_pages_recorders_js[] = {
#embed "files/js/pages/recorders.js"
};
static const unsigned char js_pages_send_result_js[] = {
#embed "files/js/pages/send-result.js"
};
static const unsigned char js_pages_send_js[] = {
#embed "files/js/pages/send.js"
};
static const unsigned char js_pages_sender_js[] = {
#embed "files/js/pages/sender.js"
};
static const unsigned char js_pages_senders_js[] = {
#embed "files/js/pages/senders.js"
};
static const unsigned char js_pages_service_accounts_js[] = {
#embed "files/js/pages/service-accounts.js"
};
static const unsigned char js_pages_store_audit_js[] = {
#embed "files/js/pages/store-audit.js"
};
static const unsigned char js_pages_topics_js[] = {
#embed "files/js/pages/topics.js"
};
static const unsigned char js_pages_webhook_js[] = {
#embed "files/js/pages/webhook.js"
};
static const unsigned char js_router_js[] = {
#embed "files/js/router.js"
};
static const unsigned char js_shell_js[] = {
#embed "files/js/shell.js"
};
static const unsigned char js_shortcuts_js[] = {
#embed "files/js/shortcuts.js"
};
static const unsigned char js_sums_js[] = {
#embed "files/js/sums.js"
};
static const unsigned char js_target_js[] = {
#embed "files/js/target.js"
};
static const unsigned char js_test_clock_js[] = {
#embed "files/js/test-clock.js"
};
static const unsigned char js_theme_js[] = {
#embed "files/js/theme.js"
};

#define FILE(path, bytes) {path, bytes, sizeof bytes}

static const struct console_file files[] = {
    FILE("css/base.css", css_base_css),
    FILE("css/chart.css", css_chart_css),
    FILE("css/content.css", css_content_css),
    FILE("css/controls.css", css_controls_css),
    FILE("css/layout.css", css_layout_css),
    FILE("favicon.svg", favicon_svg),
    FILE("index.html", index_html),
    FILE("js/api.js", js_api_js),
    FILE("js/components/chart.js", js_components_chart_js),
    FILE("js/components/command.js", js_components_command_js),
    FILE("js/components/dialog.js", js_components_dialog_js),
    FILE("js/components/form.js", js_components_form_js),
    FILE("js/components/history-list.js", js_components_history_list_js),
    FILE("js/components/life.js", js_components_life_js),
    FILE("js/components/message-list.js", js_components_message_list_js),
    FILE("js/components/notice.js", js_components_notice_js),
    FILE("js/components/pairs.js", js_components_pairs_js),
    FILE("js/components/table.js", js_components_table_js),
    FILE("js/components/totals.js", js_components_totals_js),
    FILE("js/components/trace.js", js_components_trace_js),
    FILE("js/ctl.js", js_ctl_js),
    FILE("js/dom.js", js_dom_js),
    FILE("js/figures.js", js_figures_js),
    FILE("js/format.js", js_format_js),
    FILE("js/glossary.js", js_glossary_js),
    FILE("js/main.js", js_main_js),
    FILE("js/operator.js", js_operator_js),
    FILE("js/outcome.js", js_outcome_js),
    FILE("js/pages.js", js_pages_js),
    FILE("js/pages/apns-add.js", js_pages_apns_add_js),
    FILE("js/pages/apns.js", js_pages_apns_js),
    FILE("js/pages/clock.js", js_pages_clock_js),
    FILE("js/pages/cluster.js", js_pages_cluster_js),
    FILE("js/pages/device-search.js", js_pages_device_search_js),
    FILE("js/pages/device-view.js", js_pages_device_view_js),
    FILE("js/pages/devices.js", js_pages_devices_js),
    FILE("js/pages/faults.js", js_pages_faults_js),
    FILE("js/pages/find-message.js", js_pages_find_message_js),
    FILE("js/pages/inbox-all.js", js_pages_inbox_all_js),
    FILE("js/pages/inbox-device.js", js_pages_inbox_device_js),
    FILE("js/pages/inbox.js", js_pages_inbox_js),
    FILE("js/pages/login.js", js_pages_login_js),
    FILE("js/pages/message-view.js", js_pages_message_view_js),
    FILE("js/pages/messages.js", js_pages_messages_js),
    FILE("js/pages/operations.js", js_pages_operations_js),
    FILE("js/pages/overview.js", js_pages_overview_js),
    FILE("js/pages/recorders.js", js_pages_recorders_js),
    FILE("js/pages/send-result.js", js_pages_send_result_js),
    FILE("js/pages/send.js", js_pages_send_js),
    FILE("js/pages/sender.js", js_pages_sender_js),
    FILE("js/pages/senders.js", js_pages_senders_js),
    FILE("js/pages/service-accounts.js", js_pages_service_accounts_js),
    FILE("js/pages/store-audit.js", js_pages_store_audit_js),
    FILE("js/pages/topics.js", js_pages_topics_js),
    FILE("js/pages/webhook.js", js_pages_webhook_js),
    FILE("js/router.js", js_router_js),
    FILE("js/shell.js", js_shell_js),
    FILE("js/shortcuts.js", js_shortcuts_js),
    FILE("js/sums.js", js_sums_js),
    FILE("js/target.js", js_target_js),
    FILE("js/test-clock.js", js_test_clock_js),
    FILE("js/theme.js", js_theme_js),
};

size_t console_count(void) { return sizeof files / sizeof *files; }

const struct console_file *console_file(size_t index) { return &files[index]; }
