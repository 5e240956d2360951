# An app server with Net::XMPP 1.05.
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use Net::XMPP;

$| = 1;
my $json = JSON::PP->new->utf8;
# The library encodes its output as UTF-8.
my $characters = JSON::PP->new;

sub emit {
    my ($event, %facts) = @_;
    print $json->encode({ event => $event, %facts }), "\n";
}

my ($port, $sender) = @ARGV;
my $input = '';
while ($input !~ /\n/) { sysread(STDIN, $input, 65536, length $input) or exit 64 }
my ($key) = $input =~ /^(.*)\n/;
$input =~ s/^.*\n//;

my $client = Net::XMPP::Client->new;
$client->SetCallBacks(message => sub {
    my ($session, $message) = @_;
    my ($gcm) = grep { $_->get_tag =~ /(^|:)gcm$/ } $message->GetTree->children;
    my $text = $gcm ? $gcm->get_cdata : 'null';
    utf8::encode($text) if utf8::is_utf8($text);
    emit('message', type => $message->GetType, json => $json->allow_nonref->decode($text));
});
$client->Connect(
    hostname => '127.0.0.1', port => $port, componentname => 'gcm.googleapis.com',
    tls => 0, ssl => 1, ssl_verify => 0, srv => 0
) or exit 1;
my ($result) = $client->AuthSend(username => $sender, password => $key, resource => 'perl');
if (($result // '') ne 'ok') { emit('refused'); exit }
emit('connected', jid => $client->{SESSION}{FULLJID} // "$sender\@gcm.googleapis.com/perl");

my $commands = IO::Select->new(\*STDIN);
OUTER: while (1) {
    my $state = $client->Process(0.1);
    if (!defined $state) { emit('closed'); exit }
    while ($commands->can_read(0)) {
        sysread(STDIN, $input, 65536, length $input) or last OUTER;
    }
    while ($input =~ s/^(.*)\n//) {
        my $command = $json->decode($1);
        next if $command->{do} ne 'send';
        my $text = $characters->encode($command->{json});
        $text =~ s/&/&amp;/g;
        $text =~ s/</&lt;/g;
        $client->Send("<message id=''><gcm xmlns='google:mobile:data'>$text</gcm></message>");
    }
}
$client->Disconnect;
